"""Function words by language: they say what language a text is in, and they are kept out of its terms.

Casefolded, accents kept. The lists are short on purpose: a word that can carry meaning stays a term.
"""

_LISTS = {
    "english": """
        a about above after again all am an and any are as at be because been before being below between both
        but by can could did do does doing down during each few for from further had has have having he her here
        hers him his how i if in into is it its itself just me more most my myself no nor not now of off on once
        only or other our ours out over own same she should so some such than that the their theirs them then
        there these they this those through to too under until up very was we were what when where which while
        who whom why will with would you your yours i'm i've i'd i'll it's that's don't didn't doesn't isn't
        wasn't can't couldn't won't you're we're they're he's she's what's let's
    """,
    "german": """
        aber als am an auch auf aus bei bin bis bist da damit dann das dass dein deine dem den denn der des
        dessen die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er
        es euer für hat hatte hatten hier hinter ich ihm ihn ihr ihre ihrem ihren ihrer im in ins ist ja kann
        kein keine können man mein meine mich mir mit nach nicht noch nun nur ob oder ohne sehr sein seine sich
        sie sind so über um und uns unser unter vom von vor war waren warum was weil welche wenn wer werde
        werden wie wieder wir wird wo wurde wurden zu zum zur
    """,
    "french": """
        à ai au aussi aux avec avait c'est ce cet cette ces dans de des du elle elles en est et étaient était
        être eu il ils je j'ai l'on la le les leur leurs lui ma mais me mes moi mon n'est ne nos notre nous on
        ont ou où par pas plus pour qu'il qu'on quand que quel quelle qui quoi sa sans se ses si son sont sur ta
        te tes toi ton très tu un une vos votre vous y d'un d'une
    """,
    "spanish": """
        a al algo como con cual cuál cuando cuándo de del desde donde dónde el él ella ellas ellos en entre era
        eran es esa esas ese eso esos esta está están estas este esto estos fue fueron ha había han hasta hay la
        las le les lo los más me mi mis mucho muy nada ni no nos nosotros o para pero por porque qué que quién
        quien se ser si sí sin sobre son su sus también te tiene tienen todo tu tus un una unas uno unos y ya yo
    """,
    "italian": """
        a agli ai al alla alle anche avere c'è che chi ci come con cosa cui da dal dalla dai dei del della delle
        di dove e è ed era erano essere gli ha hai hanno ho i il in io l'ha la le lei lo loro lui ma mi mia mio
        ne nei nel nella no noi non nostro o per perché però più quando quale quella quelle quelli quello questa
        queste questi questo qui se sei si sia siamo sono sta su sua sue sul sulla suo tra tu tua tuo un una uno
        vi voi
    """,
    "portuguese": """
        a à ao aos as às até com como da das de dela dele do dos e é ela elas ele eles em entre era essa essas
        esse esses esta está estão este eu foi foram há isso isto já lhe mais mas me mesmo meu meus minha muito
        na não nas nem no nos nós nossa nosso num numa o onde os ou para pela pelo por porque qual quando quem
        que são se sem ser seu seus só sua suas também te tem têm teu tua um uma você vocês
    """,
    "dutch": """
        aan al als altijd ben bij dan dat de der deze die dit doch doen door dus een en er ge geen had heb
        hebben heeft hem het hier hij hoe hun ik in is je jij jouw kan kon kunnen maar me meer men met mij mijn
        moet na naar niet nog nu of om omdat ons ook op over te tot u uit uw van veel voor waar waarom wanneer
        waren was wat we wel welke werd wie wij wil worden wordt zal ze zich zij zijn zo zou
    """,
    "swedish": """
        alla allt att av blev bli blir de dem den denna deras dess det detta dig din dina ditt du där då efter
        ej eller en er ett från för ha hade han hans har henne hennes hon honom hur här i icke ingen inom inte
        jag ju kan kunde man med mellan men mig min mina mitt mot mycket ni nu när någon något och om oss på
        samma sedan sig sin sina sitt själv skulle som så till under upp ut utan vad var vara vart varför vem vi
        vid vilken är över
    """,
    "russian": """
        а без более бы был была были было быть в вам вас весь во вот все всё вы где да даже для до его ее её ей
        ему если есть еще ещё же за здесь и из или им их к как ко когда кто ли мне мной может мой моя мы на над
        надо нас наш не него нее нет ни них но ну о об он она они оно от очень по под после потому почему при
        про с сам свой себя со так также там тем то того тоже той только том ты у уже хотя чего чей чем что
        чтобы эта эти это этот я
    """,
    "turkish": """
        acaba ama ben bana beni benim bir biz bu bunu çok da daha de değil diye en gibi hem hep hiç için ile ise
        kim ki mı mi mu mü nasıl ne neden nerede o olan olarak oldu on onu onun sen sana siz şu var ve veya ya
        yok
    """,
    "arabic": """
        في من إلى على عن أن إن كان كانت هو هي هم هذا هذه ذلك تلك التي الذي الذين ما ماذا متى أين كيف لماذا لا لم
        لن قد كل مع بعد قبل أو و ثم أنا أنت نحن هل عند بين حتى لكن
    """,
}
STOPWORDS: dict[str, frozenset[str]] = {language: frozenset(words.split()) for language, words in _LISTS.items()}
"""Stop words by the name of the language's Snowball stemmer."""

CJK_STOP_BIGRAMS = frozenset(
    (
        "什么",
        "怎么",
        "哪里",
        "是不",
        "不是",
        "我们",
        "你们",
        "他们",
        "これ",
        "それ",
        "です",
        "ます",
        "した",
        "して",
        "ました",
    )
)
"""Bigrams of function words in Chinese and Japanese."""
