"""How people say, in a dozen languages, what answers they want: data for `write.preferences`.

A wish is told from other talk by three things together: that something is asked for (`asks`), that it is about answers
(`answers`), and what about them (`values`). `own` stands for itself. `complaints` say by what is wrong with `yours` what is
wanted instead. `others` and `objects` are signs that somebody else, or some other text, is meant. Expressions are matched
against folded text, by whole words where the script has words.
"""

from dataclasses import dataclass

Value = tuple[str, str]

SHORT, LONG = ("length", "short"), ("length", "long")
BULLETS, PROSE = ("format", "bullet points"), ("format", "prose")
EMOJI, NO_EMOJI = ("emoji", "some"), ("emoji", "none")
FORMAL, INFORMAL = ("formality", "formal"), ("formality", "informal")
DIRECT = ("directness", "answer first")

SUMMARIES: dict[Value, str] = {
    SHORT: "Wants short answers.",
    LONG: "Wants long, detailed answers.",
    BULLETS: "Wants answers as bullet points.",
    PROSE: "Wants answers in running text, without bullet points.",
    EMOJI: "Wants emoji in answers.",
    NO_EMOJI: "Wants answers without emoji.",
    FORMAL: "Wants to be addressed formally.",
    INFORMAL: "Wants to be addressed informally.",
    DIRECT: "Wants the answer to the question first.",
}


@dataclass(frozen=True)
class Wording:
    """One language."""

    asks: str
    asking_politely: str
    answers: str
    yours: str
    values: tuple[tuple[Value, str], ...]
    complaints: tuple[tuple[Value, str], ...]
    others: str
    objects: str
    own: tuple[tuple[Value, str], ...] = ()
    has_words: bool = True


ENGLISH = Wording(
    asks=r"please|always|from now on|in (?:the )?future|never|stop|don't|do not|no|i(?:'d"
    r"| would) (?:prefer|like|rather)"
    r"|i prefer|i want|i need you to|keep|make|give me|just|can you|could you|would you|try to"
    r"|going forward|next time",
    asking_politely=r"can you|could you|would you|will you|please",
    answers=r"answer|answers|answering|reply|replies|respond|response|responses|explanations?"
    r"|write to me|talk to me|speak to me"
    r"|explain things|messages from you",
    yours=r"your (?:\w+ )?(?:answers?|replies|reply|responses?|explanations?|messages)",
    values=(
        (NO_EMOJI, r"(?:no|without|stop using|don't use|do not use|avoid|never use|drop)(?: \w+)? emojis?"),
        (EMOJI, r"(?:use|with|add|more)(?: \w+)? emojis?"),
        (
            PROSE,
            (
                r"(?:no|without|stop using|don't use|avoid|never use)(?: \w+)? (?:bullet[ -]?points?"
                r"|bullets|lists)"
            ),
        ),
        (BULLETS, r"bullet[ -]?points?|bullets|as (?:a )?lists?"),
        (
            SHORT,
            (
                r"shorter|brief|briefer|briefly|concise|concisely|succinct|less (?:verbose|wordy)"
                r"|short|to the point"
            ),
        ),
        (
            LONG,
            (
                r"longer|more detail|more details|more detailed|in detail|in more detail|in depth"
                r"|thorough|thoroughly"
            ),
        ),
        (INFORMAL, r"informal|informally|casual|casually|less formal"),
        (FORMAL, r"formal|formally|more formal"),
    ),
    complaints=(
        (SHORT, r"(?:too|way too|so) (?:long|verbose|wordy|lengthy)"),
        (LONG, r"too (?:short|brief|terse|superficial)"),
    ),
    others=r"he|she|they|him|her|them|his|their|theirs|who|whom|people|customers?|students?|users?"
    r"|everyone|answers back"
    r"|always (?:answers|replies|responds)|never (?:answers|replies|responds)",
    objects=r"e-?mails?|mail|letter|essay|report|article|story|poem|speech|phone|call|exam|test"
    r"|homework|interview|translate"
    r"|translation|title|headline|paragraph|function|dress|skirt|hair|walk|trip|meeting|movie|film|book|video"
    r"|(?:answer|reply|respond|response) (?:to|from) (?!me\b)\w+",
)
GERMAN = Wording(
    asks=r"bitte|immer|ab (?:jetzt|sofort)|künftig|in zukunft|nie|niemals|keine|ohne|hör auf|nicht"
    r"|nein|lieber|ich möchte|ich will"
    r"|ich hätte gern|ich bevorzuge|mach|gib mir|kannst du|könntest du|können sie|könnten sie",
    asking_politely=r"kannst du|könntest du|können sie|könnten sie|würdest du|würden sie|bitte",
    answers=r"antwort|antworten|antworte|antwortest|beantworte|erklär|erkläre|erklärungen"
    r"|schreib mir|schreibe mir|sprich"
    r"|rede mit mir",
    yours=r"(?:deine|ihre|die) (?:\w+ )?(?:antworten|antwort|erklärungen)",
    values=(
        (NO_EMOJI, r"(?:keine|ohne) (?:\w+ )?emojis?"),
        (EMOJI, r"(?:mit|mehr) emojis?"),
        (PROSE, r"(?:keine|ohne) (?:stichpunkte|aufzählungen|listen|aufzählungszeichen)"),
        (BULLETS, r"stichpunkten?|stichpunkte|stichworten|aufzählung|als liste"),
        (SHORT, r"kürzer|kürzere|kurz|kurze|knapp|knapper|knappe|prägnant|weniger ausführlich"),
        (LONG, r"länger|längere|ausführlich|ausführlicher|ausführliche|mehr details|detaillierter|genauer"),
        (FORMAL, r"förmlich|förmlicher|formell|formeller"),
        (INFORMAL, r"locker|lockerer|informell|weniger förmlich"),
    ),
    complaints=((SHORT, r"(?:viel )?zu (?:lang|ausführlich)"), (LONG, r"(?:viel )?zu (?:kurz|knapp)")),
    others=r"er|ihm|ihr|ihnen|sie (?:antwortet|schreibt|sagt|antworten)|man|jemand|kunden|leute|schüler",
    objects=r"e-?mails?|mail|brief|aufsatz|bericht|artikel|geschichte|gedicht|rede|prüfung|klausur"
    r"|telefon|anruf|übersetze"
    r"|übersetzung|titel|absatz|funktion|kleid|haare|spaziergang|film|buch",
    own=(
        (INFORMAL, r"duz(?:e|t|en)? mich|sag(?:e)? (?:bitte )?du zu mir"),
        (FORMAL, r"siez(?:e|en sie)? mich|sagen sie sie zu mir"),
    ),
)
FRENCH = Wording(
    asks=r"s'il te plaît|s'il vous plaît|stp|svp|toujours|désormais|à partir de maintenant"
    r"|dorénavant|jamais|arrête|pas de|sans"
    r"|non|je préfère|je préférerais|je voudrais|j'aimerais|je veux|fais|donne-moi|peux-tu"
    r"|pouvez-vous|pourrais-tu",
    asking_politely=r"peux-tu|tu peux|pouvez-vous|vous pouvez|pourrais-tu|pourriez-vous"
    r"|s'il te plaît|s'il vous plaît|stp|svp",
    answers=r"réponses?|réponds|répondez|répondre|réponds-moi|répondez-moi|explications?|explique"
    r"|écris-moi|parle-moi",
    yours=r"(?:tes|vos|ta|votre) (?:réponses?|explications?)",
    values=(
        (NO_EMOJI, r"(?:pas d'|sans |plus d'|aucun |d')(?:\w+ )?(?:émojis?|emojis?|émoticônes?)"),
        (PROSE, r"(?:pas de|sans) (?:listes?|puces|liste à puces)"),
        (BULLETS, r"(?:à|avec des) puces|sous forme de liste|en liste"),
        (SHORT, r"(?:plus )?(?:courtes?|courts?|brèves?|brefs?|concis|concises?|brièvement)"),
        (LONG, r"plus (?:longues?|longs?|détaillées?|détaillés?)|plus de détails|en détail"),
    ),
    complaints=((SHORT, r"trop (?:longues?|longs?|verbeuses?)"), (LONG, r"trop (?:courtes?|courts?|brèves?)")),
    others=r"(?<!s')il|elle|ils|elles|lui|leur|leurs|on|les gens|clients?|élèves?",
    objects=r"e-?mails?|courriel|lettre|rédaction|rapport|article|histoire|poème|discours|examen"
    r"|téléphone|traduis|traduction|titre"
    r"|paragraphe|robe|cheveux|film|livre|promenade",
    own=(
        (INFORMAL, r"tutoie-moi|tutoyez-moi|on peut se tutoyer"),
        (FORMAL, r"vouvoie-moi|vouvoyez-moi"),
    ),
)
SPANISH = Wording(
    asks=r"por favor|siempre|a partir de ahora|de ahora en adelante|nunca|deja de|no|sin|prefiero"
    r"|preferiría|me gustaría|quiero"
    r"|quisiera|hazme|dame|puedes|podrías|puede|podría",
    asking_politely=r"puedes|podrías|puede|podría|por favor",
    answers=r"respuestas?|responde|respóndeme|responda|respondas|contesta|contéstame|contestes"
    r"|explicaciones|explícame|escríbeme"
    r"|háblame|responder|contestar",
    yours=r"(?:tus|sus|tu|su) (?:respuestas?|explicaciones)",
    values=(
        (NO_EMOJI, r"(?:sin|no uses|no quiero|deja de usar|nada de) (?:\w+ )?(?:emojis?|emoticonos)"),
        (EMOJI, r"(?:con|usa|más) (?:emojis?|emoticonos)"),
        (PROSE, r"(?:sin|no uses) (?:\w+ )?(?:listas|viñetas)"),
        (BULLETS, r"(?:con|en) viñetas|en forma de lista|en una lista|en puntos"),
        (SHORT, r"(?:más )?(?:cortas?|cortos?|breves?|concisas?|concisos?|brevemente)"),
        (LONG, r"más (?:largas?|largos?|detalladas?|detallados?|detalle|detalles)|en detalle"),
    ),
    complaints=((SHORT, r"demasiado (?:largas?|largos?)|muy largas"), (LONG, r"demasiado (?:cortas?|breves?)")),
    others=r"él|ella|ellos|ellas|les|la gente|clientes?|alumnos?|siempre (?:responde|contesta) (?:en|con)",
    objects=r"correos?|e-?mails?|carta|ensayo|informe|artículo|cuento|historia|poema|discurso"
    r"|examen|teléfono|traduce|traducción|título"
    r"|párrafo|vestido|pelo|película|libro|paseo",
    own=((INFORMAL, r"tutéame|trátame de tú"), (FORMAL, r"trátame de usted|tráteme de usted")),
)
ITALIAN = Wording(
    asks=r"per favore|per piacere|sempre|d'ora in poi|da ora in poi|mai|smettila|non|niente|no"
    r"|senza|preferisco|preferirei|vorrei"
    r"|voglio|fammi|dammi|puoi|potresti|può|potrebbe",
    asking_politely=r"puoi|potresti|può|potrebbe|per favore|per piacere",
    answers=r"rispost[ae]|rispondi|rispondimi|risponda|rispondere|spiegazion[ei]|spiegami|scrivimi|parlami",
    yours=r"(?:le )?(?:tue|sue|tua|sua) (?:rispost[ae]|spiegazion[ei])",
    values=(
        (NO_EMOJI, r"(?:senza|niente|non usare|basta) (?:\w+ )?(?:emoji|faccine)"),
        (PROSE, r"(?:senza|niente) (?:elenchi|liste)"),
        (BULLETS, r"(?:elenco|elenchi|elenco puntato|punti elenco)"),
        (SHORT, r"(?:più )?(?:cort[aei]|corto|brev[ei]|concis[aeio]|brevemente|sintetic\w+)"),
        (LONG, r"più (?:lung[aoh]\w*|dettagliat\w+|dettagli)|in dettaglio"),
    ),
    complaints=((SHORT, r"troppo lung\w+"), (LONG, r"troppo (?:cort\w+|brev[ei])")),
    others=r"lui|lei (?:risponde|dice)|loro|gli|la gente|clienti|studenti",
    objects=r"e-?mail|mail|lettera|tema|relazione|articolo|storia|poesia|discorso|esame|telefono"
    r"|traduci|traduzione|titolo|paragrafo"
    r"|vestito|capelli|film|libro|passeggiata",
    own=((INFORMAL, r"dammi del tu|diamoci del tu"), (FORMAL, r"mi dia del lei|dammi del lei")),
)
PORTUGUESE = Wording(
    asks=r"por favor|sempre|a partir de agora|de agora em diante|nunca|pare de|não|sem|prefiro"
    r"|preferia|gostaria|gostava|quero"
    r"|queria|dê-me|me dê|pode|podes|você pode|poderia",
    asking_politely=r"pode|podes|você pode|poderia|poderias|por favor",
    answers=r"respostas?|responda|responde|responda-me|responder|responde-me|me responda"
    r"|explicações|explique|escreva|fale comigo",
    yours=r"(?:as )?(?:suas|tuas|sua|tua) (?:respostas?|explicações)",
    values=(
        (NO_EMOJI, r"(?:sem|não use|não uses|pare de usar) (?:\w+ )?(?:emojis?|emoticons)"),
        (PROSE, r"(?:sem|não use) (?:\w+ )?(?:listas|marcadores)"),
        (BULLETS, r"(?:em|com) (?:tópicos|marcadores|lista)"),
        (SHORT, r"(?:mais )?(?:curt[ao]s?|breves?|concis[ao]s?|resumid[ao]s?|brevemente)"),
        (LONG, r"mais (?:long[ao]s?|detalhad[ao]s?|detalhes)|em detalhe"),
    ),
    complaints=(
        (SHORT, r"(?:muito|demasiado) (?:long[ao]s?|compridas?)|(?:long|comprid)as demais"),
        (LONG, r"(?:muito|demasiado) curtas?"),
    ),
    others=r"ele|ela|eles|elas|lhe|lhes|as pessoas|clientes?|alunos?",
    objects=r"e-?mails?|carta|redação|relatório|artigo|história|poema|discurso|prova|exame|telefone"
    r"|traduza|tradução|título|parágrafo"
    r"|vestido|cabelo|filme|livro|passeio",
    own=((INFORMAL, r"trata-me por tu|me trate por você"), (FORMAL, r"trate-me por (?:senhor|senhora)")),
)
DUTCH = Wording(
    asks=r"alsjeblieft|alstublieft|graag|altijd|voortaan|vanaf nu|nooit|stop met|geen|zonder|nee"
    r"|niet|liever|ik wil|ik heb liever"
    r"|geef me|kun je|kan je|kunt u|wil je",
    asking_politely=r"kun je|kan je|kunt u|wil je|zou je|alsjeblieft|alstublieft",
    answers=r"antwoord|antwoorden|antwoordt|beantwoord|reageer|uitleg|leg uit|schrijf me|praat",
    yours=r"(?:je|jouw|uw) (?:\w+ )?(?:antwoorden|antwoord|uitleg)",
    values=(
        (NO_EMOJI, r"(?:geen|zonder) (?:\w+ )?emoji's?"),
        (PROSE, r"(?:geen|zonder) (?:opsommingen|lijstjes|bullets)"),
        (BULLETS, r"opsomming|opsommingstekens|puntsgewijs|als lijst"),
        (SHORT, r"kort|korte|korter|kortere|bondig|bondiger|beknopt|beknopter"),
        (LONG, r"langer|langere|uitgebreid|uitgebreider|uitgebreidere|meer details|gedetailleerder"),
    ),
    complaints=((SHORT, r"(?:veel )?te (?:lang|uitgebreid)"), (LONG, r"(?:veel )?te (?:kort|beknopt)")),
    others=r"hij|zij|hem|haar|hun|hen|mensen|klanten|leerlingen",
    objects=r"e-?mails?|mail|brief|opstel|verslag|artikel|verhaal|gedicht|toespraak|examen|telefoon"
    r"|vertaal|vertaling|titel|alinea|jurk"
    r"|film|boek|wandeling",
    own=((INFORMAL, r"tutoyeer me|zeg maar je"), (FORMAL, r"vousvoyeer me|zeg u tegen me")),
)
RUSSIAN = Wording(
    asks=r"пожалуйста|всегда|впредь|отныне|теперь|с этого момента|никогда|не надо|не|без|нет|давай"
    r"|лучше|я предпочитаю|хочу"
    r"|хотел бы|хотела бы|можешь|можете|мог бы|могли бы",
    asking_politely=r"можешь|можете|мог бы|могла бы|могли бы|пожалуйста",
    answers=r"ответы?|ответов|ответами|отвечай|отвечайте|отвечать|ответь|объясняй|объясняйте"
    r"|объяснения|пиши мне|пиши|пишите|говори",
    yours=r"(?:твои|ваши|твой|ваш) (?:\w+ )?(?:ответы?|объяснения)",
    values=(
        (NO_EMOJI, r"без (?:эмодзи|смайликов|смайлов)|не (?:используй|используйте|ставь) (?:эмодзи|смайлики)"),
        (PROSE, r"без (?:списков|пунктов)"),
        (BULLETS, r"списком|по пунктам|пунктами"),
        (SHORT, r"короче|кратко|покороче|коротко|короткие|лаконично|лаконичнее|краткие|кратче"),
        (LONG, r"подробнее|подробно|подробные|длиннее|развёрнуто|развернуто|детальнее"),
    ),
    complaints=(
        (SHORT, r"слишком (?:длинные|длинный|подробные)"),
        (
            LONG,
            (
                r"слишком (?:короткие"
                r"|короткий|краткие)"
            ),
        ),
    ),
    others=r"он|она|они|его|её|ее|их|им|люди|клиенты|клиентам|ученики",
    objects=r"письмо|письма|сочинение|отчёт|отчет|статью|статья|рассказ|стих|речь|экзамен|телефон"
    r"|переведи|перевод|заголовок|абзац"
    r"|платье|фильм|книга|книгу",
    own=(
        (INFORMAL, r"(?:давай|обращайся ко мне|говори|перейдём|перейдем) на ты"),
        (FORMAL, r"(?:обращайтесь ко мне|обращайся ко мне|говорите) на вы"),
    ),
)
TURKISH = Wording(
    asks=r"lütfen|her zaman|hep|bundan sonra|artık|asla|hayır|istiyorum|tercih ederim|isterim|olsun"
    r"|ver|yaz|misin|mısın|misiniz"
    r"|kullanma",
    asking_politely=r"misin|mısın|misiniz|mısınız|lütfen",
    answers=r"cevap|cevaplar|cevapla|cevaplarını|cevapların|yanıt|yanıtla|yanıtlar|yanıtların"
    r"|yanıtlarını|açıkla|açıklamalar",
    yours=r"cevapların|yanıtların|cevaplarınız|yanıtlarınız",
    values=(
        (NO_EMOJI, r"emojisiz|emoji (?:kullanma|kullanmadan|olmadan)"),
        (BULLETS, r"madde madde|maddeler halinde"),
        (SHORT, r"daha kısa|kısa|kısaca|özlü"),
        (LONG, r"daha uzun|daha ayrıntılı|ayrıntılı|detaylı"),
    ),
    complaints=((SHORT, r"(?:çok|fazla) uzun"), (LONG, r"(?:çok|fazla) kısa")),
    others=r"onun|ona|onlar|onların|insanlar|müşteriler|öğrenciler",
    objects=r"e-?posta|mektup|kompozisyon|rapor|makale|hikaye|hikâye|şiir|konuşma|sınav|telefon"
    r"|çevir|çeviri|başlık|paragraf|elbise"
    r"|film|kitap",
)
CHINESE = Wording(
    asks=r"请|總是|总是|以后|以後|从现在起|從現在起|今后|不要|别|別|不用|希望|我要|我想|给我|給我|能不能|可以|可不可以|一点|一點|些",
    asking_politely=r"能不能|可以|可不可以|请|請",
    answers=r"回答|回复|回覆|答复|解释|解釋|跟我说|跟我說",
    yours=r"你的?(?:回答|回复|回覆|解释|解釋)|您的?(?:回答|回复)",
    values=(
        (NO_EMOJI, r"(?:不要|别|別|不用)(?:再)?(?:用|使用|发|發)?(?:表情|emoji)"),
        (PROSE, r"不要(?:用)?(?:列表|分点)"),
        (BULLETS, r"分点|分點|列表|要点|要點"),
        (SHORT, r"简短|簡短|短一点|短一點|简洁|簡潔|简单点|短些"),
        (LONG, r"详细|詳細|长一点|長一點|更长|更多细节"),
    ),
    complaints=((SHORT, r"太长|太長|太啰嗦|太囉嗦"), (LONG, r"太短|太简短|太簡短")),
    others=r"他|她|他们|他們|客户|客戶|学生|學生|老师|老師",
    objects=r"邮件|郵件|信件|作文|报告|報告|文章|故事|诗|詩|演讲|演講|考试|考試|电话|電話|翻译|翻譯|标题|標題|裙子|头发|電影|电影",
    has_words=False,
)
JAPANESE = Wording(
    asks=r"ください|下さい|お願い|いつも|今後|これから|常に|やめて|ほしい|欲しい|してね|しないで|でいい|もっと|もらえ|くれ",
    asking_politely=r"もらえ|くれ(?:る|ません|ない)|いただけ|できますか|ください|お願い",
    answers=r"回答|返事|返答|答え|返信|説明|話して",
    yours=r"(?:あなたの)?(?:回答|返事|返答|答え|返信|説明)(?:が|は)",
    values=(
        (NO_EMOJI, r"絵文字(?:は|を|なし)?(?:使わ|やめ|なし|不要|いらない)"),
        (BULLETS, r"箇条書き"),
        (SHORT, r"短く|短い|簡潔|手短|短めに"),
        (LONG, r"詳しく|詳しい|長く|長めに|詳細に"),
    ),
    complaints=((SHORT, r"長すぎ|長過ぎ"), (LONG, r"短すぎ|短過ぎ")),
    others=r"彼|彼女|彼ら|お客|学生|先生|生徒",
    objects=r"メール|手紙|作文|報告書|レポート|記事|物語|詩|スピーチ|試験|電話|翻訳|訳して|題名|髪|映画|スカート",
    own=((INFORMAL, r"タメ口で|ため口で"), (FORMAL, r"敬語で(?:話|お願い|答)")),
    has_words=False,
)
WORDINGS: tuple[Wording, ...] = (
    ENGLISH,
    GERMAN,
    FRENCH,
    SPANISH,
    ITALIAN,
    PORTUGUESE,
    DUTCH,
    RUSSIAN,
    TURKISH,
    CHINESE,
    JAPANESE,
)
