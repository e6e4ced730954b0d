"""The words by which claims are found, by language: who is meant, what is asked of them, and what makes a text unsure.

Adding a language means a block here and one in `patterns`.
"""

from functools import cache

from chalicelib.domain.claims.values import folded
from chalicelib.domain.text.terms import stem


@cache
def word_set(words: str) -> frozenset[str]:
    """The folded words of a list."""
    return frozenset(folded(word) for word in words.split())


FIRST_PERSON = "i we ich wir je nous yo nosotros io noi eu nos ik wij ben biz я мы أنا 我 我们 私 僕"
FIRST_PLURAL = "we wir nous nosotros noi nos wij biz мы 我们"
"""Of these the team is meant, not the author alone."""

MY = "my mein meine mon ma mi mia mio meu minha mijn benim мой моя моё мое 我的 私の"
OUR = "our unser unsere notre nuestro nuestra nostro nostra nosso nossa ons onze bizim наш наша наше 我们的 我們的"
THE = "the der die das le la l' el los il lo o a os as de het den dem die"
THE_USER = "user benutzer nutzer utilisateur usuario utente gebruiker kullanici пользователь المستخدم 用户 ユーザー"

PARTICLES = word_set(
    """
    de da do dos del della di van von der den la le el al bin of and y e
    """
)
"""Words in the middle of a name that are written small."""

NOBODY = word_set(
    """
    sounds looks seems feels as just is are was were
    he she it they you this that these those there here who what which everyone everybody someone somebody
    nobody no one anyone anybody all some many most people er sie es ihr man dieser diese dies jemand niemand
    alle wer il elle ils elles on tu vous ce cela qui quelqu'un personne tout el ella ellos usted eso esto
    alguien nadie quien lui lei loro questo qualcuno nessuno chi ele ela eles isso isto alguem ninguem quem hij
    zij ze het dit dat iemand niemand wie o onlar bu birisi kimse kim он она оно они это кто никто все هو هي هم
    هذا من 他 她 它 他们 谁 彼 彼女 誰 her his its their your maybe perhaps probably when where why how if once after
    before because since while yesterday today tomorrow se si als quando cuando wann quand cuando then now so
    also well yes no ok okay please thanks hi hello
    """
)
"""Words that name nobody that could be known again later."""

PRONOUNS = word_set(
    """
    it them him her this that these those me us you what so too to how when being
    """
)
"""No values of a claim."""

UNSURE = word_set(
    """
    maybe perhaps probably possibly might could would should may if whether unless think thinking believe guess
    suppose hope hopes hoping wish wishes plans planning consider considering want wants wanted imagine pretend
    suppose said says claims claimed apparently rumor rumour supposedly hypothetically ever dreamed dreamt
    wonder wondering vielleicht wahrscheinlich vermutlich könnte würde falls ob glaube denke hoffe möchte wenn
    angeblich peut-être probablement pourrait serait si pense crois espère voudrait souhaite apparemment quizás
    quizá tal vez probablemente podría sería creo pienso espero quiere quiero forse magari probabilmente
    potrebbe sarebbe penso credo spero vorrei vorrebbe talvez provavelmente poderia seria acho penso espero quer
    quero gostaria misschien waarschijnlijk zou denk geloof hoop wil belki muhtemelen eğer sanırım umarım
    istiyorum возможно наверное может если думаю надеюсь хочу хочет бы ربما لعل إذا أظن أعتقد
    """
)
UNSURE_PARTS = (
    "也许",
    "可能",
    "大概",
    "如果",
    "想要",
    "打算",
    "かもしれ",
    "たぶん",
    "もし",
    "と思",
    "たい",
    "吗",
    "嗎",
    "ですか",
)
"""What makes a sentence no plain statement. The second list is looked for inside the text: scripts without spaces."""

ONE_VALUE: dict[str, str] = {
    "name": "name nickname surname naam nombre nom nome isim adı имя اسم 名字 名前",
    "birthday": "birthday birthdate geburtstag anniversaire cumpleaños compleanno aniversário verjaardag "
    "doğumgünü рождения 生日 誕生日",
    "age": "age alter âge edad età idade leeftijd yaş возраст 年龄 年齢",
    "residence": "hometown address home adresse dirección indirizzo endereço adres адрес عنوان 地址 住所",
    "email": "email e-mail mail correo почта إيميل 邮箱 邮件 メール",
    "phone": "phone telephone telefon téléphone teléfono telefono telefone telefoon телефон هاتف "
    "电话 電話 电话号码 電話番号",
    "spouse": "wife husband spouse frau ehemann ehefrau mari épouse esposa esposo marido moglie marito mulher "
    "vrouw echtgenoot karısı kocası жена муж زوجة زوج 妻子 丈夫 妻 夫",
    "employer": "employer arbeitgeber employeur empleador werkgever işveren работодатель 雇主",
    "role": "job role position occupation profession beruf métier profesión professione profissão beroep meslek "
    "профессия مهنة 职业 職業",
    "manager": "manager boss ceo cto lead leader chef jefe capo chefe baas müdür начальник مدير 经理 上司 owner",
    "deadline": "deadline due frist abgabetermin échéance plazo scadenza prazo teslim срок дедлайн موعد "
    "截止日期 締め切り 締切",
    "meeting": "meeting appointment call interview review standup webinar session treffen termin besprechung réunion "
    "rendez-vous reunión cita riunione appuntamento reunião consulta vergadering afspraak toplantı randevu "
    "встреча собрание اجتماع 会议 会議 約束",
    "date": "date launch release start datum date fecha data tarih дата تاريخ 日期 日付",
    "budget": "budget presupuesto bilancio orçamento bütçe бюджет ميزانية 预算 予算",
    "price": "price cost fee rent salary preis miete gehalt prix loyer salaire precio alquiler sueldo salario prezzo "
    "affitto stipendio preço aluguel prijs huur salaris fiyat kira maaş цена аренда зарплата سعر راتب "
    "价格 价钱 工资 値段 価格 家賃",
    "number": "number count quota limit total size version port rate target score coverage accuracy goal weight height "
    "anzahl nummer zahl nombre numéro número numero aantal sayı numara количество номер версия عدد رقم 数量 号码 番号 版本",
    "status": "status state stand statut état estado stato durum статус حالة 状态 状態 ステータス",
    "colour": "colour color farbe couleur color colore cor kleur renk цвет لون 颜色 色",
    "capital": "capital hauptstadt capitale hoofdstad başkent столица عاصمة 首都",
    "place": "location venue office branch database timezone framework host server ort büro lieu bureau lugar oficina "
    "luogo ufficio escritório plaats kantoor ofis офис место مكتب 办公室 オフィス 数据库 データベース",
}
"""Attributes that have one value at a time, by the nouns that name them: the last word of an attribute in languages that put
what qualifies it first, the first word in the others. A person has many hobbies and one birth date; what is not here is
never contradicted."""

SINGLE = frozenset({*ONE_VALUE, "favourite", "preference"})
MANY = frozenset({"uses", "likes"})
"""Attributes of which many values hold at once: they are only taken back, never contradicted by another value."""

MODIFIERS_THAT_SAY_NEW = word_set(
    """
    new updated neue neuer nouveau nuevo nueva nuovo novo nieuwe
    """
)
MODIFIERS_THAT_SAY_NOTHING = word_set(
    """
    current latest initial original total overall own final increased adjusted revised aktuelle actuel actual
    """
)


@cache
def one_value_nouns() -> dict[str, str]:
    """The attribute that each noun names."""
    return {folded(noun): attribute for attribute, nouns in ONE_VALUE.items() for noun in nouns.split()}


CHANGES = """
new now updated update increased increase raised extended extend changed change moved move moving rescheduled reschedule
adjusted adjust improved improve reached reduced reduce shortened dropped grew grown lowered postponed delayed instead
recently bumped revised rose expanded cut added total latest anymore switched neu neue neuer neuen jetzt inzwischen erhöht
gestiegen verlängert geändert verschoben angepasst verbessert erreicht gesenkt reduziert gekürzt stattdessen kürzlich
nouveau nouvelle maintenant désormais augmenté prolongé changé déplacé reporté ajusté amélioré atteint réduit récemment
nuevo nueva ahora aumentado aumenté ampliado cambiado movido aplazado ajustado mejorado alcanzado reducido recientemente
nuovo nuova ora adesso aumentato esteso cambiato spostato rinviato modificato migliorato raggiunto ridotto recentemente
novo nova agora aumentei aumentou estendido mudou mudei adiado ajustei melhorou reduzido recentemente nieuw nieuwe nu
verhoogd verlengd gewijzigd verplaatst uitgesteld aangepast verbeterd bereikt verlaagd onlangs yeni artık şimdi artırdım
arttı uzatıldı değişti ertelendi taşındı ulaştı azaldı новый новая теперь увеличил увеличили вырос продлён изменили
перенесли достиг снизили недавно جديد الآن زاد تغير تأجل ارتفع انخفض
"""
"""Words that say of a value that it is another one than before."""
CHANGES_UNSPACED = frozenset(
    {"现在", "改为", "改成", "增加", "提高", "推迟", "延长", "新的", "今は", "変更", "増や", "増え", "延期"}
)

FROM = "from since von seit ab de depuis desde da dal van sinds с со от من"
"""Before a value: it is what was, not what is."""
PER_CENT = "percent percentage prozent pourcent procent porcentaje porciento percento yüzde процент процентов"
COUNTED_OFF = """
v version sprint step chapter phase level day week part option problem question team number no page figure section item
kapitel schritt seite teil tag woche frage étape chapitre partie jour semaine capítulo paso parte día página passo
capitolo giorno pagina dia hoofdstuk stap deel dag bölüm adım gün глава шаг часть день страница
"""
"""After these a number tells one thing from the next."""


@cache
def _attribute_terms() -> frozenset[str]:
    nouns = one_value_nouns()
    return frozenset(nouns) | frozenset(stem(noun, "english") for noun in nouns)


def is_attribute(term: str) -> bool:
    """Whether a term is of a noun that names an attribute with one value at a time."""
    return term in _attribute_terms()
