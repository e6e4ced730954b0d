"""What the heuristic writer knows of each language, as data: question patterns, what is no content, how words are joined.

`{who}` is a speaker's name and `{topic}` words of the memory as they stand there. The patterns take both in any
grammatical form, behind a colon or in quotation marks where the language would inflect them: a stiff question is found as
well as a smooth one, a wrong one is nonsense.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Phrases:
    """The patterns of one language. `said` ask what a speaker said, `known` what is known where nobody is named; `when` is
    asked where the text holds a time. `letters` are all that its words are written with besides ASCII's."""

    said: tuple[str, ...]
    known: tuple[str, ...]
    when: str
    letters: str = ""


PHRASES: dict[str, Phrases] = {
    "english": Phrases(
        said=("What did {who} say about {topic}?", "Who talked about {topic}?"),
        known=("What do we know about {topic}?", "Who or what has to do with {topic}?"),
        when="When was it: {topic}?",
    ),
    "german": Phrases(
        said=("Was hat {who} über {topic} gesagt?", "Wer hat über {topic} gesprochen?"),
        known=("Was wissen wir über {topic}?", "Wer oder was hat mit {topic} zu tun?"),
        when="Wann war das: {topic}?",
        letters="äöüßé",
    ),
    "french": Phrases(
        said=("Qu'est-ce que {who} a dit de « {topic} » ?", "Qui a parlé de « {topic} » ?"),
        known=("Que savons-nous de « {topic} » ?", "Qui ou quoi est lié à « {topic} » ?"),
        when="C'était quand : {topic} ?",
        letters="àâäæçéèêëîïôœùûüÿ",
    ),
    "spanish": Phrases(
        said=("¿Qué dijo {who} sobre {topic}?", "¿Quién habló de {topic}?"),
        known=("¿Qué sabemos sobre {topic}?", "¿Quién o qué tiene que ver con {topic}?"),
        when="¿Cuándo fue: {topic}?",
        letters="áéíñóúü",
    ),
    "italian": Phrases(
        said=("Che cosa ha detto {who} su {topic}?", "Chi ha parlato di {topic}?"),
        known=("Che cosa sappiamo su {topic}?", "Chi o che cosa ha a che fare con {topic}?"),
        when="Quando è stato: {topic}?",
        letters="àèéìíòóùú",
    ),
    "portuguese": Phrases(
        said=("O que {who} disse sobre {topic}?", "Quem falou sobre {topic}?"),
        known=("O que sabemos sobre {topic}?", "Quem ou o que tem a ver com {topic}?"),
        when="Quando foi: {topic}?",
        letters="áàâãçéêíóôõúü",
    ),
    "dutch": Phrases(
        said=("Wat zei {who} over {topic}?", "Wie had het over {topic}?"),
        known=("Wat weten we over {topic}?", "Wie of wat heeft te maken met {topic}?"),
        when="Wanneer was dat: {topic}?",
        letters="éèëïóöü",
    ),
    "swedish": Phrases(
        said=("Vad sa {who} om {topic}?", "Vem pratade om {topic}?"),
        known=("Vad vet vi om {topic}?", "Vem eller vad har att göra med {topic}?"),
        when="När var det: {topic}?",
        letters="åäöé",
    ),
    "turkish": Phrases(
        said=("{who} “{topic}” hakkında ne dedi?", "“{topic}” hakkında kim konuştu?"),
        known=("“{topic}” hakkında ne biliyoruz?", "“{topic}” ile kimin veya neyin ilgisi var?"),
        when="“{topic}” ne zamandı?",
        letters="çğıöşüâîû",
    ),
    "russian": Phrases(
        said=("{who}: что было сказано на тему «{topic}»?", "Кто говорил на тему «{topic}»?"),
        known=("Что известно на тему «{topic}»?", "Кто или что связано с темой «{topic}»?"),
        when="Когда это было: {topic}?",
        letters="абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
    ),
    "arabic": Phrases(
        said=("ماذا قال {who} عن «{topic}»؟", "من تحدث عن «{topic}»؟"),
        known=("ماذا نعرف عن «{topic}»؟", "من أو ماذا له علاقة بموضوع «{topic}»؟"),
        when="متى كان ذلك: {topic}؟",
    ),
    "hindi": Phrases(
        said=("{who} ने «{topic}» के बारे में क्या कहा?", "«{topic}» के बारे में किसने बात की?"),
        known=("«{topic}» के बारे में हम क्या जानते हैं?", "«{topic}» से किसका संबंध है?"),
        when="यह कब हुआ: {topic}?",
    ),
    "chinese": Phrases(
        said=("关于“{topic}”，{who}说了什么？", "谁谈到了“{topic}”？"),
        known=("关于“{topic}”，我们知道什么？", "谁或什么与“{topic}”有关？"),
        when="“{topic}”是什么时候的事？",
    ),
    "japanese": Phrases(
        said=("「{topic}」について、{who}は何と言いましたか？", "「{topic}」について話したのは誰ですか？"),
        known=("「{topic}」について何が分かっていますか？", "「{topic}」に関係があるのは誰、または何ですか？"),
        when="「{topic}」はいつのことですか？",
    ),
    "korean": Phrases(
        said=("“{topic}”에 대해 {who} 님이 뭐라고 했나요?", "“{topic}”에 대해 누가 말했나요?"),
        known=("“{topic}”에 대해 무엇을 알고 있나요?", "“{topic}”와(과) 관련된 것은 누구 또는 무엇인가요?"),
        when="“{topic}” 일은 언제였나요?",
    ),
}

_LISTS = {
    "unspaced_times": "昨天 今天 明天 年 月 周 星期 昨日 今日 明日 先週 来週 曜日 어제 오늘 내일 년 월 주",
    "korean_particles": "에게서 으로 에서 에게 까지 부터 이랑 하고 은 는 이 가 을 를 에 의 도 로 와 과 랑",
    "chit_chat": """
        hi hello hey bye goodbye thanks thank thx ok okay yes yeah yep nope wow haha lol cool great nice awesome amazing
        sure right well glad happy sorry please welcome congrats congratulations good absolutely definitely totally really oh
        exactly agreed agree morning night evening day care luck hope chat talk soon later see sounds fun love
        hallo danke bitte tschüss ja nein gut super genau guten tag abend morgen
        bonjour salut merci oui non bien bonne journée soir bravo
        hola gracias adiós sí vale bueno buenos buenas días tardes noches genial
        ciao grazie prego sì buongiorno buona sera bene
        olá oi obrigado obrigada sim tchau bom dia boa tarde noite
        hoi bedankt dank dag goed leuk hej tack bra
        merhaba teşekkürler teşekkür ederim evet hayır tamam günaydın iyi
        привет спасибо пока да нет хорошо здравствуйте пожалуйста отлично доброе утро добрый день
        مرحبا شكرا نعم لا أهلا السلام عليكم صباح الخير
        नमस्ते धन्यवाद हाँ हां नहीं अच्छा ठीक शुक्रिया
        你好 谢谢 多谢 再见 好的 是的 早上好 晚安 哈哈
        こんにちは ありがとう おはよう おはようございます ありがとうございます はい いいえ さようなら
        안녕 안녕하세요 감사합니다 고마워요 고마워 네 아니요 좋아요
    """,
    "hindi_stopwords": """
        का के की को में से पर ने है हैं था थी थे और या यह वह ये वे मैं मैंने हम हमने तुम आप मेरा मेरी मेरे उसका उसकी उसके इस उस कि
        जो भी ही तो कर करता करते करती किया गया गई हो होता एक लिए साथ तक अब कल बहुत नहीं क्या कब कहाँ कौन कैसे
    """,
    "times": """
        yesterday today tomorrow tonight week weekend month year monday tuesday wednesday thursday friday
        saturday sunday january february march april may june july august september october november
        december summer winter spring autumn ago gestern heute morgen woche monat jahr montag dienstag
        mittwoch donnerstag freitag samstag sonntag januar februar märz juni juli oktober dezember hier
        aujourd'hui demain semaine mois lundi mardi mercredi jeudi vendredi samedi dimanche janvier février
        mars avril mai juin juillet août septembre octobre novembre décembre ayer hoy mañana semana mes año
        lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio
        agosto septiembre octubre noviembre diciembre ieri oggi domani settimana mese anno lunedì martedì
        mercoledì giovedì venerdì sabato domenica gennaio febbraio aprile maggio giugno luglio settembre
        ottobre novembre dicembre ontem hoje amanhã mês ano segunda terça quarta quinta sexta janeiro
        fevereiro março maio junho julho setembro outubro dezembro gisteren vandaag maand jaar maandag
        dinsdag woensdag donderdag vrijdag zaterdag zondag igår idag imorgon vecka månad år dün bugün yarın
        hafta ay yıl pazartesi salı çarşamba perşembe cuma cumartesi pazar ocak şubat mart nisan mayıs
        haziran temmuz ağustos eylül ekim kasım aralık вчера сегодня завтра неделе месяц год понедельник
        вторник среду четверг пятницу субботу воскресенье января февраля марта апреля мая июня июля августа
        сентября октября ноября декабря мае июне июле августе أمس اليوم غدا أسبوع شهر سنة कल आज परसों महीने
        साल सोमवार
    """,
}
CHIT_CHAT = frozenset(_LISTS["chit_chat"].split())
"""Words of greeting, thanks and assent: nothing is asked about them later."""
HINDI_STOPWORDS = frozenset(_LISTS["hindi_stopwords"].split())
TIMES = frozenset(_LISTS["times"].split())
"""Words of time: a text with one, or with a number, is asked for its when."""
UNSPACED_TIMES = tuple(_LISTS["unspaced_times"].split())
CHINESE_STOPS = (
    "的了着在是我你他她它们和跟与也就都很不没有这那个吗呢吧啊呀把被对从到向"
    "往去来说要会想给让还再又但因为所以而且或么什哪怎每"
)
"""Characters that end a topic in Chinese."""
KOREAN_PARTICLES = tuple(_LISTS["korean_particles"].split())
"""The longest first."""
KOREAN_ENDINGS = ("다", "요", "까", "죠", "네")
