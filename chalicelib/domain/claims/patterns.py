"""Sentences that make a claim, by language, as data.

A line is: attribute, kind of value, mark, expression. The mark is `+` where the sentence states the value, `>` where it
says that it changed to it, `-` where it takes it back. {S} is the subject, {V} the value, {A} an attribute that is named by
a noun; `@` for the attribute means that {A} names it. {ME} in the place of {S}: the verb's own form is the first person.
An expression has to match a clause from its beginning to its end; what follows a value is cut off by `ENDS`.
"""

import re
from dataclasses import dataclass
from functools import cache

from chalicelib.domain.claims.values import Kind

_VERBS_OF_CHANGE = (
    "moved|changed|switched|updated|increased|raised|lowered|reduced|decreased|extended|rescheduled|postponed|adjusted"
    "|renamed|dropped|rose|grown?|grew|improved|shortened|cut|pushed|pushed back|set"
)
_FROM = "(?:from [^,]{1,40}? )?"
_HAVE = "(?: has| have|'ve)?(?: just| recently)?"
MACROS = {
    "{S}": r"(?P<s>(?:[^\s,;:!?]{1,40} ){0,4}?[^\s,;:!?]{1,40}?)",
    "{A}": r"(?P<a>(?:[^\s,;:!?]{1,40} ){0,7}?[^\s,;:!?]{1,40}?)",
    "{V}": r"(?P<v>.{1,120}?)",
    "{ME}": "",
    "{HAVE}": _HAVE,
    "{FROM}": _FROM,
    "{NOW}": "(?:(?:now|currently|still) )?",
    "{DONT}": "(?:does not|doesn't|do not|don't)",
    "{IS}": "(?:is|are|'s)(?: now| currently| still| set to| scheduled for| planned for| set for| on| at| due| in){0,3}",
    "{CHANGED}": (
        "(?:(?:has|have|had|was|were|is|been|be|just|recently|got|now|has since) ){0,3}"
        f"(?:{_VERBS_OF_CHANGE}) {_FROM}to"
    ),
    "{CHANGE}": f"(?:I|we|{{S}}){_HAVE} (?:{_VERBS_OF_CHANGE})",
}

LINES: dict[str, str] = {
    "en": r"""
        residence place + {S} {NOW}lives? in {V}
        residence place + {S}(?: is| am| are|'m|'re)(?: now| currently| still)? (?:living|based) in {V}
        residence place + (?P<v>.{1,40}) is where {S} lives?
        residence place > {S}{HAVE} (?:moved|relocated) {FROM}to {V}
        residence place - {S} no longer lives? in {V}
        residence place - {S} {DONT} live in {V}
        residence place - {S}(?: has| have|'ve)? moved (?:away from|out of) {V}
        employer place + {S} {NOW}works? (?:at|for) {V}
        employer place + {S}(?: is| am|'m)(?: now| currently)? (?:working (?:at|for)|employed (?:at|by)) {V}
        employer place - {S} no longer works? (?:at|for) {V}
        employer place - {S} {DONT} work (?:at|for) {V}
        employer place - {S}(?: has| have|'ve)? (?:quit|left) (?:(?:her|his|my|their) )?job at {V}
        role text + {S} {NOW}works? as (?:an? |the )?{V}
        role text - {S} no longer works? as (?:an? |the )?{V}
        name name + {S}(?: is| am|'m) (?:called|named) {V}
        birthday date + {S} was born (?:on|in) {V}
        age amount + {S}(?: is| am|'m)(?: now)? (?P<v>\d{1,3}) (?:years old|years of age)
        age amount > {S}(?: has| have|'ve)?(?: just)? turned (?P<v>\d{1,3})
        preference text + {S} prefers? {V} (?:to|over) (?P<w>.{1,60})
        spouse name + {S}(?: is| am|'m)(?: now)? married to {V}
        price amount + {S} (?:(?:now|currently) )?costs? {V}
        status text + {S} is {NOW}(?P<v>done|blocked|in progress|on hold|cancelled|finished|shipped|completed|paused)
        uses text + {S} {NOW}uses? {V}
        uses text - {S} (?:no longer uses?|stopped using|does not use|doesn't use|do not use|don't use) {V}
        uses text > {S}(?: has| have|'ve)? (?:switched|migrated) (?:from (?P<w>[^,]{1,40}?) )?to {V}
        likes text + {S} (?:(?:really|still) )?(?:likes?|loves?) {V}
        likes text - {S} (?:no longer (?:likes?|loves?)|stopped liking) {V}
        @ any + {A} {IS} {V}
        @ any > {A} {CHANGED} {V}
        @ any > {CHANGE} {A} {FROM}to {V}
        @ any - {A} (?:is not|isn't|is no longer) {V}
    """,
    "de": r"""
        residence place + {S} (?:wohn|leb)(?:e|t|en)(?: jetzt| derzeit| immer noch| nun)? in {V}
        residence place > {S} (?:bin|ist|sind) (?:(?:gerade|kürzlich) )?(?:von [^,]{1,40}? )?nach {V} (?:um)?gezogen
        residence place > {S} (?:zog|ziehe|zieht)(?: von [^,]{1,40}?)? nach {V}(?: um)?
        residence place - {S} (?:wohn|leb)(?:e|t|en) nicht mehr in {V}
        employer place + {S} arbeite(?:t|n)?(?: jetzt| derzeit| nun)? (?:bei|für) {V}
        employer place - {S} arbeite(?:t|n)? nicht mehr (?:bei|für) {V}
        role text + {S} arbeite(?:t|n)?(?: jetzt)? als {V}
        name name + {S} heiß(?:e|t|en) {V}
        birthday date + {S} (?:wurde|bin|ist) am {V} geboren
        age amount + {S} (?:bin|ist)(?: jetzt)? (?P<v>\d{1,3}) Jahre alt
        spouse name + {S} (?:bin|ist) mit {V} verheiratet
        price amount + {S} kostet(?: jetzt)? {V}
        uses text + {S} (?:benutz|nutz|verwende)(?:e|t|en)? {V}
        uses text - {S} (?:benutz|nutz|verwende)(?:e|t|en)? {V} nicht mehr
        @ any + {A} (?:ist|lautet|beträgt|findet)(?: jetzt| nun| derzeit)?(?: am| um)? {V}(?: statt)?
        @ any > {A} (?:wurde|ist)(?: jetzt)? (?:auf|zu) {V} (?:verschoben|geändert|erhöht|gesenkt|verlängert)
    """,
    "fr": r"""
        residence place + {S} ?(?:habite|vis|vit|vivons)(?: maintenant| actuellement)? (?:à|en|au|aux) {V}
        residence place > {S} (?:ai|a|suis|est|avons) (?:déménagé|emménagé|parti vivre) (?:à|en|au|aux) {V}
        residence place - {S} (?:n'habite|ne vis|ne vit) plus (?:à|en|au|aux) {V}
        employer place + {S} ?travaille(?: maintenant| actuellement)? (?:chez|pour) {V}
        employer place - {S} ne travaille plus (?:chez|pour) {V}
        role text + {S} ?travaille comme {V}
        name name + {S} (?:m'appelle|s'appelle) {V}
        birthday date + {S} (?:suis|est) née? le {V}
        age amount + {S} ?(?:ai|a) (?P<v>\d{1,3}) ans
        preference text + {S} préfère {V} (?:à|au|aux) (?P<w>.{1,60})
        spouse name + {S} (?:suis|est) mariée? (?:à|avec) {V}
        price amount + {S} coûte(?: maintenant)? {V}
        uses text + {S} ?utilise {V}
        uses text - {S} n'utilise plus {V}
        @ any + {A} est(?: maintenant| désormais)?(?: de| le| fixée? au| à)? {V}
        @ any > {A} (?:est passée?|a été (?:reportée?|déplacée?|changée?|augmentée?|fixée?)) (?:à|au|en) {V}
    """,
    "es": r"""
        residence place + {S} viv(?:o|e|imos)(?: ahora| actualmente)? en {V}
        residence place + {ME}(?:ahora )?vivo(?: ahora| actualmente)? en {V}
        residence place > {S} se (?:mudó|ha mudado) a {V}
        residence place > {ME}me (?:mudé|he mudado) a {V}
        residence place - {S} ya no vive en {V}
        residence place - {ME}ya no vivo en {V}
        employer place + {S} trabaja(?: ahora| actualmente)? (?:en|para) {V}
        employer place + {ME}trabajo(?: ahora| actualmente)? (?:en|para) {V}
        employer place - {S} ya no trabaja (?:en|para) {V}
        employer place - {ME}ya no trabajo (?:en|para) {V}
        role text + {S} trabaja como {V}
        role text + {ME}trabajo como {V}
        name name + {S} se llama {V}
        name name + {ME}me llamo {V}
        birthday date + {S} nació el {V}
        birthday date + {ME}nací el {V}
        age amount + {S} tiene (?P<v>\d{1,3}) años
        age amount + {ME}tengo (?P<v>\d{1,3}) años
        preference text + {S} prefiere {V} (?:a|al|que) (?P<w>.{1,60})
        preference text + {ME}prefiero {V} (?:a|al|que) (?P<w>.{1,60})
        spouse name + {S} está casad[oa] con {V}
        spouse name + {ME}estoy casad[oa] con {V}
        price amount + {S} cuesta(?: ahora)? {V}
        uses text + {S} usa {V}
        @ any + {A} (?:es|está)(?: ahora)?(?: el| de)? {V}
        @ any > {A} (?:se cambió|se movió|se pospuso|pasó|subió|bajó|ha cambiado) (?:a|al|para el) {V}
    """,
    "it": r"""
        residence place + {S} (?:abita|vive)(?: ora| adesso| attualmente)? (?:a|in) {V}
        residence place + {ME}(?:abito|vivo)(?: ora| adesso)? (?:a|in) {V}
        residence place > {S} si è trasferit[oa] (?:a|in) {V}
        residence place > {ME}mi sono trasferit[oa] (?:a|in) {V}
        residence place - {S} non (?:abita|vive) più (?:a|in) {V}
        residence place - {ME}non (?:abito|vivo) più (?:a|in) {V}
        employer place + {S} lavora(?: ora)? (?:per|presso|in|da|alla) {V}
        employer place + {ME}lavoro(?: ora)? (?:per|presso|in|da|alla) {V}
        employer place - {S} non lavora più (?:per|presso|in|da|alla) {V}
        role text + {S} lavora come {V}
        role text + {ME}lavoro come {V}
        name name + {S} si chiama {V}
        name name + {ME}mi chiamo {V}
        birthday date + {S} è nat[oa] il {V}
        birthday date + {ME}sono nat[oa] il {V}
        age amount + {S} ha (?P<v>\d{1,3}) anni
        age amount + {ME}ho (?P<v>\d{1,3}) anni
        preference text + {S} preferisce {V} (?:a|al|alla) (?P<w>.{1,60})
        spouse name + {S} è sposat[oa] con {V}
        price amount + {S} costa(?: ora)? {V}
        @ any + {A} è(?: ora| adesso)?(?: il| di| del)? {V}
        @ any > {A} è (?:stat[oa] )?(?:spostat[oa]|cambiat[oa]|aumentat[oa]|passat[oa]) (?:a|al) {V}
    """,
    "pt": r"""
        residence place + {S} (?:mora|vive)(?: agora| atualmente)? (?:em|no|na) {V}
        residence place + {ME}(?:moro|vivo)(?: agora| atualmente)? (?:em|no|na) {V}
        residence place > {S} mudou-se para {V}
        residence place > {S} se mudou para {V}
        residence place > {ME}(?:mudei-me|me mudei|mudei) para {V}
        residence place - {S} já não (?:mora|vive) (?:em|no|na) {V}
        residence place - {S} não (?:mora|vive) mais (?:em|no|na) {V}
        residence place - {ME}(?:já não (?:moro|vivo)|não (?:moro|vivo) mais) (?:em|no|na) {V}
        employer place + {S} trabalha(?: agora)? (?:na|no|em|para a|para o|para) {V}
        employer place + {ME}trabalho(?: agora)? (?:na|no|em|para a|para o|para) {V}
        employer place - {S} (?:já não trabalha|não trabalha mais) (?:na|no|em|para) {V}
        role text + {S} trabalha como {V}
        role text + {ME}trabalho como {V}
        name name + {S} (?:se chama|chama-se) {V}
        name name + {ME}(?:me chamo|chamo-me) {V}
        birthday date + {S} nasceu (?:em|a|no dia) {V}
        birthday date + {ME}nasci (?:em|a|no dia) {V}
        age amount + {S} tem (?P<v>\d{1,3}) anos
        age amount + {ME}tenho (?P<v>\d{1,3}) anos
        preference text + {S} prefere {V} (?:a|ao|à) (?P<w>.{1,60})
        spouse name + {S} (?:é|está) casad[oa] com {V}
        price amount + {S} custa(?: agora)? {V}
        @ any + {A} é(?: agora)?(?: o| de| em| a)? {V}
        @ any > {A} (?:mudou|passou|foi (?:adiad[oa]|alterad[oa]|aumentad[oa])) para {V}
    """,
    "nl": r"""
        residence place + {S} woont?(?: nu| momenteel)? in {V}
        residence place > {S} (?:ben|is) (?:van [^,]{1,40}? )?verhuisd naar {V}
        residence place > {S} (?:ben|is) naar {V} verhuisd
        residence place - {S} woont? niet meer in {V}
        employer place + {S} werkt?(?: nu| momenteel)? (?:bij|voor) {V}
        employer place - {S} werkt? niet meer (?:bij|voor) {V}
        role text + {S} werkt?(?: nu)? als {V}
        name name + {S} heet {V}
        birthday date + {S} (?:is|ben) geboren op {V}
        age amount + {S} (?:is|ben)(?: nu)? (?P<v>\d{1,3}) jaar(?: oud)?
        spouse name + {S} (?:is|ben) getrouwd met {V}
        price amount + {S} kost(?: nu)? {V}
        @ any + {A} is(?: nu)?(?: op)? {V}
        @ any > {A} (?:is|werd) (?:verplaatst|veranderd|verhoogd|verschoven) naar {V}
    """,
    "ru": r"""
        residence place + {S} (?:сейчас |теперь )?жив[уёе]т? в {V}
        residence place > {S} переехала? в {V}
        residence place - {S} больше не жив[уёе]т? в {V}
        employer place + {S} (?:сейчас |теперь )?работа(?:ю|ет) в {V}
        employer place - {S} больше не работа(?:ю|ет) в {V}
        name name + {S} зовут {V}
        birthday date + {S} родил(?:ся|ась) {V}
        age amount + {S} (?P<v>\d{1,3}) (?:лет|года?)
        price amount + {S} стоит {V}
        @ any + {A}(?: теперь)?(?: —| -|:) {V}
        @ any > {A} перенес(?:ён|ен|ена|ли) на {V}
    """,
    "tr": r"""
        residence place + {S} (?P<v>[^\s,]{2,40}?)['’]?(?:da|de|ta|te) (?:yaşıyor|yaşıyorum|oturuyor|oturuyorum)
        residence place > {S} (?P<v>[^\s,]{2,40}?)['’](?:ya|ye|a|e) taşınd[ıi]m?
        employer place + {S} (?P<v>[^\s,]{2,40}?)['’](?:da|de|ta|te) çalışıyor(?:um)?
        name name + {S} adı {V}
        age amount + {S} (?P<v>\d{1,3}) yaşında(?:yım)?
    """,
    "ar": r"""
        residence place + {S} (?:يعيش|تعيش|يسكن|تسكن|أعيش|أسكن) في {V}
        residence place + {ME}(?:أعيش|أسكن) في {V}
        residence place > {S} (?:انتقل|انتقلت) إلى {V}
        residence place - {S} لم (?:يعد يعيش|تعد تعيش) في {V}
        residence place - {ME}لم أعد أعيش في {V}
        employer place + {S} (?:يعمل|تعمل) (?:في|لدى) {V}
        employer place + {ME}أعمل (?:في|لدى) {V}
        name name + {ME}اسمي {V}
        age amount + {ME}عمري (?P<v>\d{1,3}) (?:سنة|عاما)
    """,
    "zh": r"""
        residence place - (?P<s>[^，。的]{1,6}?)(?:不再住在|不住在){V}(?:了)?
        residence place + (?P<s>[^，。的]{1,6}?)(?:现在)?(?:住在|居住在){V}
        residence place > (?P<s>[^，。的]{1,6}?)(?:已经)?(?:搬到了?|搬去了?){V}
        employer place + (?P<s>[^，。的]{1,6}?)(?:现在)?在(?P<v>[^，。]{2,20}?)(?:工作|上班)
        name name + (?P<s>[^，。的]{1,6}?)(?:的名字是|名叫|叫){V}
        age amount + (?P<s>[^，。的]{1,6}?)今年?(?P<v>\d{1,3})岁
        @ any + (?P<o>[^，。]{1,10})的(?P<a>[^，。的]{1,6}?)(?:现在)?是{V}
        @ any > (?P<o>[^，。]{1,10})的(?P<a>[^，。的]{1,6}?)(?:已经)?(?:改到|改为|改成|推迟到)了?{V}
    """,
    "ja": r"""
        residence place + (?P<s>[^、。]{1,12}?)は(?:今|現在)?(?P<v>[^、。]{1,15}?)に(?:住んでいます|住んでいる|住んでます)
        residence place > (?P<s>[^、。]{1,12}?)は(?P<v>[^、。]{1,15}?)に(?:引っ越しました|引っ越した)
        residence place - (?P<s>[^、。]{1,12}?)はもう(?P<v>[^、。]{1,15}?)に(?:住んでいません|住んでいない)
        employer place + (?P<s>[^、。]{1,12}?)は(?P<v>[^、。]{1,20}?)で(?:働いています|働いている)
        age amount + (?P<s>[^、。]{1,12}?)は(?P<v>\d{1,3})歳(?:です)?
        @ any + (?P<o>[^、。]{1,12}?)の(?P<a>[^、。の]{1,8}?)は(?P<v>[^、。]{1,30}?)(?:です|だ)
        @ any > (?P<o>[^、。]{1,12}?)の(?P<a>[^、。の]{1,8}?)は(?P<v>[^、。]{1,30}?)に(?:変更され|変わり|なり)ました
    """,
}

ENDS = (
    r"(?:,(?!\d)| —| – | \(| "
    r"(?:and|but|because|since|so|which|who|where|that|until|till|when|while|if|with|for|as|instead|anymore"
    r"|any more|any longer|now|und|aber|weil|seit|bis|mit|denn|et|mais|parce|depuis|jusqu|avec|y|pero|porque|desde|hasta|con"
    r"|e|ma|perché|dal|fino|mas|pois|até|com|en|maar|omdat|sinds|tot|met|и|но|потому|с|до|ve|ama|و|لكن)(?= )| (?:anymore|any"
    r" more|any longer|now|these days|at the moment|from now on)$).*$"
)
"""Where a value ends before its clause does."""

LEADS = (
    r"^(?:(?:by the way|btw|fyi|actually|correction|update|note|reminder|also|so|well|oh|hey|and|but|just so you know"
    r"|(?:please )?(?:remember|note) that|übrigens|eigentlich|korrektur|au fait|en fait|por cierto|en realidad|comunque"
    r"|aliás|na verdade|trouwens|eigenlijk|кстати|на самом деле|bu arada|aslında)[,:]?\s+)+"
)
"""What a sentence may begin with before it says anything."""


@dataclass(frozen=True)
class Pattern:
    """One line of `LINES`."""

    language: str
    attribute: str
    kind: Kind | None
    negated: bool
    change: bool
    me: bool
    trigger: str
    expression: re.Pattern[str]


@cache
def patterns() -> tuple[Pattern, ...]:
    """All of them, compiled at first use."""
    return tuple(
        _pattern(language, *line.split(maxsplit=3))
        for language, lines in LINES.items()
        for line in lines.strip().splitlines()
    )


def _pattern(language: str, attribute: str, kind: str, mark: str, expression: str) -> Pattern:
    for name in ("{CHANGE}", *MACROS):  # which holds another
        expression = expression.replace(name, MACROS[name])
    me = "(?P<s>" not in expression and "(?P<a>" not in expression
    compiled = re.compile(f"^{expression}$", re.IGNORECASE)
    read = None if kind == "any" else Kind(kind)
    return Pattern(language, attribute, read, mark == "-", mark == ">", me, _trigger(expression), compiled)


def _trigger(expression: str) -> str:
    """The longest run of letters that every match holds: looking for it is cheaper than matching."""
    plain, before = expression, ""
    while plain != before:
        before = plain
        plain = re.sub(r"\((?:\?(?:P<\w+>|:|=))?[^()]*\)[?*+]?(?:\{\d,\d\})?\??", "|", plain)
    plain = re.sub(r"\[[^\]]*\](?:\{[\d,]+\})?[?*+]*|.\?|\\.", "|", plain)
    runs = re.findall(r"[^|^$.*+?{}()\[\]\\]+", plain)
    return max((run.strip() for run in runs), key=len, default="").casefold()
