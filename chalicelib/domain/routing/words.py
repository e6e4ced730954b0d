"""The words that the router knows, by what they do in a query. A language more is a few words more in each list.

Casefolded, accents kept where they tell words apart. No list decides alone: length, punctuation, digits, quotes, capitals
and the order of words speak in every language.
"""

from functools import cache


@cache
def word_set(words: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(words.split())


COURTESIES = """
    hi hello hey heya hiya howdy yo greetings morning afternoon evening night good day there everyone all thanks thank you
    thx ty cheers a lot much very so many ok okay k cool great nice perfect awesome fine sounds got it alright sure yes
    yep yeah yup no nope bye goodbye see later soon welcome please sorry how are
    hallo servus moin guten gute gut morgen tag abend nacht tschüss ciao danke dir ihnen schön vielen dank sehr klar passt
    alles klar prima super ja nein bitte bis bald später wie geht's geht
    bonjour bonsoir salut coucou bonne nuit journée soirée merci beaucoup bien parfait d'accord oui non au revoir à bientôt
    demain ça va comment allez-vous
    hola buenos buenas días dias tardes noches qué tal gracias muchas mil vale perfecto genial claro sí si adiós hasta luego
    cómo estás está
    olá ola oi bom boa dia tarde noite tudo bem obrigado obrigada muito certo ótimo perfeito beleza sim não tchau até logo
    como vai
    ciao salve buongiorno buonasera buonanotte grazie mille tante perfetto va bene arrivederci come stai
    hoi goedemorgen goedemiddag goedenavond dank je u bedankt prima tot ziens
    hej tack så mycket god morgon bra
    merhaba selam günaydın iyi günler akşamlar geceler teşekkürler teşekkür ederim sağol tamam evet hayır nasılsın
    привет здравствуй здравствуйте доброе утро добрый день вечер доброй ночи спасибо большое благодарю ладно хорошо
    отлично понял поняла да нет пока до свидания как дела
    مرحبا مرحبًا أهلا أهلًا وسهلا السلام سلام عليكم ورحمة الله وبركاته صباح مساء الخير النور شكرا شكرًا جزيلا جزيلًا لك
    حسنا حسنًا تمام نعم لا مع السلامة كيف حالك
    नमस्ते धन्यवाद ठीक है हाँ नहीं
    안녕 안녕하세요 감사합니다 고마워 고마워요 네 좋아요
    γεια σου ευχαριστώ πολύ καλημέρα
    שלום תודה רבה בוקר טוב
"""
"""Words of greetings, thanks and acknowledgements: a text of these alone asks for nothing."""

COURTESIES_UNSPACED = """
    你好 您好 大家好 早上好 下午好 晚上好 早安 晚安 早 嗨 哈喽 谢谢 谢谢你
    謝謝 多谢 感谢 非常感谢 辛苦了 好的 好 嗯 行 可以 没问题 知道了
    明白 明白了 收到 再见 拜拜 你 您 了 啊 吧 大家 在吗
    こんにちは こんばんは おはよう おはようございます ありがとう ありがとうございます どうも
    はい いいえ 了解 了解です 了解しました
    お願いします さようなら またね
    สวัสดี สวัสดีครับ สวัสดีค่ะ ขอบคุณ ขอบคุณครับ ขอบคุณค่ะ
"""
"""The same in scripts without spaces."""

QUESTION = """
    what what's which who who's whom whose where where's when why how
    was welche welcher welches welchen welchem wer wem wen wessen wo wohin woher wann warum weshalb wieso wie wieviel worin
    womit wofür worüber
    qu'est-ce qu'est quoi quel quelle quels quelles qui où quand pourquoi comment combien
    qué cuál cuáles quién quiénes dónde cuándo cómo cuánto cuánta cuántos cuántas cual donde cuando quien
    quê qual quais quem onde quando porquê quanto quanta quantos quantas
    che chi quale quali dove perché quanto come cosa cos'è
    wat welke wie waar wanneer waarom hoe hoeveel
    vad vilken vilka vem var när varför hur
    ne hangi kim nerede nereye zaman neden niçin nasıl kaç
    что чего чему какой какая какое какие каких какого какую кто кого кому кем чей чья где куда откуда когда почему зачем
    как сколько
    ما ماذا من مَن أي أين متى لماذا كيف كم هل بماذا
    क्या कौन कहाँ कब क्यों कैसे कितना
    무엇 뭐 누구 어디 언제 왜 어떻게 얼마
    τι ποιος ποια πού πότε γιατί πώς
    מה מי איפה מתי למה איך כמה
"""
QUESTION_UNSPACED = """
    什么 什麼 哪 谁 誰 何时 几点 几时 多少 多久 怎么 怎麼 怎样 如何 为什么 為什麼 为何 吗 嗎 呢
    何 いつ どこ だれ どの どれ どちら どう なぜ いくら いくつ ですか ますか
    อะไร ใคร ที่ไหน เมื่อไหร่ ทำไม อย่างไร เท่าไหร่
"""

AND = {
    "english": "and plus & also",
    "german": "und sowie & außerdem",
    "french": "et ainsi &",
    "spanish": "y e además &",
    "italian": "e ed inoltre &",
    "portuguese": "e além &",
    "dutch": "en &",
    "swedish": "och &",
    "turkish": "ve ile &",
}
OR = {
    "english": "or",
    "german": "oder",
    "french": "ou",
    "spanish": "o u",
    "italian": "o od oppure",
    "portuguese": "ou",
    "dutch": "of",
    "swedish": "eller",
    "turkish": "veya yoksa",
}
AND_ANYWHERE = "и а 그리고 και और"
OR_ANYWHERE = "или либо أو أم 아니면 또는 ή या"
AND_UNSPACED = "和 与 與 及 跟 同 以及 还有 還有 并且 と や それから"
OR_UNSPACED = "还是 還是 或者 或 それとも または หรือ"
PREFIXED_AND = "و"
"""Arabic writes it onto the word."""
NO_ALTERNATIVE = "not so nicht non no нет لا not? any anything something later"
"""Words after an "or" that names no second thing."""

COMPARISON = """
    compare compares compared comparing comparison versus vs vs. difference differences differ differs different
    differently similarities advantages disadvantages
    vergleich vergleiche vergleichen verglichen vergleicht unterschied unterschiede unterscheiden unterscheidet
    unterscheidest vorteile nachteile gegenüber
    comparer compare comparez comparé comparaison différence différences diffère diffèrent avantages inconvénients
    comparar compara compare comparado comparación diferencia diferencias difiere difieren ventajas desventajas
    comparação diferença diferenças difere diferem vantagens desvantagens
    confronta confrontare confronto paragona differenza differenze vantaggi svantaggi
    vergelijk vergelijken vergelijking verschil verschillen verschilt
    jämför jämföra skillnad skillnaden
    fark farkı farkları karşılaştır karşılaştırma
    сравни сравните сравнить сравнение разница разницу различие различия отличие отличия отличается отличаются
    الفرق فرق قارن مقارنة اختلاف يختلف تختلف
    차이 비교 διαφορά σύγκριση अंतर तुलना
"""
COMPARISON_UNSPACED = """
    比较 比較 对比 對比 相比 区别 區別 差别 差別 差异 差異 不同 哪个更 哪個更 哪一个更 优缺点
    違い 比べ 比較 どちらが どっち より เปรียบเทียบ ต่างกัน
"""
MORE = """
    plus moins mieux meilleur meilleure pire aussi
    más menos mejor peor mayor menor
    mais melhor pior maior
    più meno meglio migliore peggio
"""
"""What a comparison in these languages begins with; the second set ends it a few words later."""
THAN = "que qu' do che di"
THAN_ALONE = "than"
AFTER_COMPARATIVE = {"als": "er", "dan": "er", "чем": "е", "än": "re"}
"""Words for "than" that mean other things too, by how the comparative before them ends."""
ARABIC_MORE = "أفضل أحسن أكثر أقل أكبر أصغر أسرع أبطأ أرخص أغلى أسوأ أقدم أحدث أطول أقصر أقرب أبعد"
ARABIC_THAN = "من"

DETERMINERS = """
    der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner mein meine meinen meinem
    meiner dein deine deinen deinem deiner sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer unser unsere unseren
    unserem unserer euer eure dieser diese dieses diesen diesem jeder jede jedes jeden jedem welche welcher welches welchen
    welchem im am zum zur beim vom ins ans aufs alle viele manche einige beide beiden
"""
"""What stands before a common noun in German, which writes all nouns with a capital."""

CJK_SURNAMES = (
    "王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何高林罗羅郑鄭梁谢謝宋唐许許韩韓冯馮邓鄧曹彭曾肖田董袁潘蒋蔣"
    "蔡余杜叶葉程苏蘇魏吕呂丁任沈姚卢盧姜崔钟鐘谭譚陆陸汪范金石廖贾賈夏韦韋付方白邹鄒孟熊秦邱江尹薛闫段雷侯龙龍史陶"
    "黎贺賀顾顧毛郝龚龔邵万萬钱錢严嚴覃武戴莫孔向汤湯"
)
"""The hundred most frequent: with one or two characters after it, and another such beside it, a person."""
