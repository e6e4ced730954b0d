# ruff: noqa: E501 - an expression is one line, however long
"""What prompt injection looks like, as data: marks of chat templates, and English. `injection_languages` has the others.

A pattern is an expression over one form of the text, with the words of which at least one has to stand there before it is
tried at all. Forms (see `injection_views`): `marks` is the text in one case, with its punctuation; `words` has single
spaces between words, and a NUL where a sentence ends; `hidden` is what a reader of the page would not see; `run_together`
has no spaces.

A pattern begins with a literal, and its gaps are bounded: a text costs time in proportion to its length.
"""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a text tries."""

    OVERRIDE = "instruction_override"
    ROLE_MARKER = "role_marker"
    TEMPLATE_ESCAPE = "template_escape"
    PROMPT_REVEAL = "prompt_reveal"
    EXFILTRATION = "exfiltration"
    TOOL_FORGERY = "tool_forgery"
    STANDING_ORDER = "standing_order"
    PERSONA_TAKEOVER = "persona_takeover"
    CONCEALMENT = "concealment"


class Form(StrEnum):
    """What of a text an expression is tried on."""

    MARKS = "marks"
    WORDS = "words"
    HIDDEN = "hidden"
    RUN_TOGETHER = "run_together"


@dataclass(frozen=True)
class Pattern:
    """One pattern. `needles`: of these one at least is in every text that the expression finds. In `words` a needle is the
    beginning of a word there, and may go on over the words that follow; where a script has no spaces it stands anywhere."""

    kind: Kind
    languages: tuple[str, ...]
    note: str
    needles: tuple[str, ...]
    expression: str
    form: Form = Form.WORDS


_ANY = ("*",)
_EN = ("en",)

MARKS: tuple[Pattern, ...] = tuple(
    Pattern(kind, _ANY, note, needles, expression, Form.MARKS)
    for kind, note, needles, expression in (
        (
            Kind.TEMPLATE_ESCAPE,
            "special tokens of chat templates, also with spaces in them",
            ("<|", "< |"),
            (
                r"< ?\| ?/?(?:im_(?:start|end|sep)|system|user|assistant|developer|tool(?:_calls?)?|end(?:_?of_?(?:text|turn|prompt))?|eot(?:_id)?"
                r"|begin_?of_?text|endoftext|start_header_id|end_header_id|fim_[a-z]{3,6}|channel|message|start|return) ?\| ?>"
            ),
        ),
        (
            Kind.TEMPLATE_ESCAPE,
            "instruction brackets of chat templates",
            ("inst]", "sys>>", "_of_turn>", "inst ]"),
            r"\[ ?/?inst ?\]|<< ?/?sys ?>>|</?(?:start|end)_of_turn>",
        ),
        (
            Kind.TEMPLATE_ESCAPE,
            "tags that close or open the assistant's own blocks",
            ("system", "assistant", "instruction", "developer", "user_"),
            (
                r"<\s?/?\s?(?:system(?:[_-](?:prompt|message|instructions?|reminder|override))?|assistant(?:[_-](?:message|response|reply))?"
                r"|developer(?:[_-](?:message|prompt))?|instructions|user[_-](?:message|input|query|prompt))\s?/?\s?>"
            ),
        ),
        (Kind.TEMPLATE_ESCAPE, "the fence of our own recall blocks", ("vitto",), r"vitto ?: ?recalled"),
        (
            Kind.TEMPLATE_ESCAPE,
            "the end of a context or prompt, announced",
            ("end of", "end ", "/context", "/memor", "/document", "/user"),
            (
                r"[\[<(=*#-] ?/?end (?:of )?(?:the )?(?:system |user |retrieved |recalled )?(?:prompt|context|instructions?|input|memor(?:y|ies)|conversation|document)"
                r" ?[\]>)=*#-]|</(?:context|memor(?:y|ies)|documents?|user_?input)>\s{0,9}(?:<|ignore|you|now|new|system|assistant)"
            ),
        ),
        (
            Kind.TEMPLATE_ESCAPE,
            "headings of instruction templates",
            ("### ",),
            r"### (?:system|instructions?|response|assistant|new instructions?|system prompt) ?:",
        ),
        (
            Kind.ROLE_MARKER,
            "a line that speaks as the system and gives orders",
            ("system", "developer", "admin", "root", "assistant"),
            (
                r"(?:^|[\n.!?>]) {0,9}[#*\[<(_]{0,5}(?:system|developer|administrator|admin|root)"
                r"(?: (?:message|prompt|note|notice|override|instructions?|update|command|alert))?[\]>)*_]{0,5} ?[:>-] ?[*_\]\"“]{0,3} {0,3}"
                r"(?:you (?:are|must|will|shall|should|can|have|may|now)|your|ignore|disregard|forget|override|bypass|new (?:instruction|rule|directive)s?"
                r"|the assistant|assistant|from now|respond|answer|reply|act as|reveal|obey|enter|enable|all (?:previous|prior|safety)|content (?:filter|policy)|safety)"
            ),
        ),
        (
            Kind.ROLE_MARKER,
            "a message of a chat API with the role of the system",
            ('"role"', "'role'"),
            r"[\"']role[\"'] ?: ?[\"'](?:system|developer)[\"'] ?, ?[\"']content[\"'] ?: ?[\"'] ?(?:you (?:are now|must|will)|ignore|disregard|forget|override|from now|new )",
        ),
        (
            Kind.TOOL_FORGERY,
            "calls of tools in the forms that models write them in",
            ("tool_", "function_call", "invoke name", "<function=", "tool_use", "functioncall"),
            (
                r"</?(?:tool_calls?|function_calls?|functioncall|tool_use|tool_results?|tool_response)>|<(?:[a-z]{1,9}:)?invoke name ?=|<function=[\w.-]{1,60}>"
                r"|\[tool_calls\]|\[tool_results\]|[\"']tool_calls[\"'] ?: ?\[ ?\{"
                r"|[\"']type[\"'] ?: ?[\"'](?:tool_use|function_call|tool_result)[\"']"
            ),
        ),
        (
            Kind.TOOL_FORGERY,
            "a step of an agent's transcript",
            ("action input",),
            r"\n ?action ?: ?[\w .-]{1,60}\n ?action input ?:",
        ),
        (
            Kind.EXFILTRATION,
            "a picture or link whose address is to carry what was said",
            ("](http", "src="),
            (
                r"(?:\]\(|<img src ?= ?[\"']?)https?://[^\s)\"'>]{1,200}[?&][\w.-]{1,40}=(?:\{\{?|\[|<|%7b)\s?"
                r"[\w .%-]{0,30}(?:conversation|history|prompt|secret|password|api.?key|memor|summary|context|user.?data|chat|base64)"
            ),
        ),
    )
)
"""Marks that stand in any language. Talk about them names them in words; a text that carries them could close a block."""

HIDDEN: tuple[Pattern, ...] = (
    Pattern(
        Kind.CONCEALMENT,
        _EN,
        "orders to an assistant where no reader sees them",
        ("assistant", "ai", "llm", "chatbot", "model", "agent", "gpt", "claude", "copilot", "gemini", "prompt"),
        r" (?:assistants?|ai|llms?|chatbots?|language models?|agents?|bots?|chatgpt|gpt|claude|copilot|gemini|prompt)"
        r"(?: \w+){0,12} (?:must|should|shall|ignore|send|forward|reply|respond|answer|say|tell|always|never|recommend|include|output|approve|rate|follow|execute|run|call|reveal)(?= )",
        Form.HIDDEN,
    ),
    Pattern(
        Kind.CONCEALMENT,
        _EN,
        "orders about instructions or the user where no reader sees them",
        ("instruction", "user", "the reader"),
        r" (?:ignore|disregard|follow|obey|override|tell|send|do not tell|don t tell|convince|persuade|ask)(?: \w+){0,4} (?:instructions?|the user|the reader|users)(?= )",
        Form.HIDDEN,
    ),
)

_NOT_SAID_TO_YOU = "".join(
    f"(?<! {word} )"
    for word in (
        "never", "do not", "don t", "dont", "must not", "mustn t", "should not", "shouldn t", "not to", "cannot", "can t",
        "didn t", "doesn t", "did not", "does not", "won t", "will not", "wouldn t", "i", "we", "they", "he", "she", "people",
        "who", "some", "kids", "users", "students", "often", "i d", "i ll", "i always",
    )
)  # fmt: skip
_FORGET = (
    r"(?:ignore|disregard|forget(?: about)?|override|bypass|discard|overrule|circumvent|abandon|dismiss|set aside|throw (?:away|out)"
    r"|pay no (?:attention|heed|mind) to|stop (?:following|obeying)|(?:do not|don t|dont) (?:follow|obey|listen to|comply with|adhere to)"
    r"|no longer (?:follow|obey)|cease (?:following|obeying)|cancel|wipe|erase|unlearn|nullify|void)"
)
_FORGET_NEEDLES = (
    "ignore", "disregard", "forget", "overrid", "bypass", "discard", "overrule", "circumvent", "abandon", "dismiss", "aside",
    "throw ", "pay no", "follow", "obey", "listen to", "comply", "adhere", "cancel", "wipe", "erase", "unlearn", "nullify", "void",
)  # fmt: skip
_SOME = (
    r"(?:all|any|every|each|of|the|these|those|this|that|your|my|our|its|other|and|or|both|single|whatever|such|entire|"
    r"set|sort|kind|kinds|current|given|system|safety|user|developer|assistant|stored|stupid|silly|boring|context)"
)
_EARLIER = r"(?:previous|previously|prior|preceding|above|earlier|foregoing|former|past|existing|initial|original|old|aforementioned|present|before)"
_ORDERS = (
    r"(?:instructions?|instructs|directions?|directives?|prompts?|prompting|rules?|rulesets?|guidelines?|guidance|commands?|constraints?|programming|training|restrictions?"
    r"|polic(?:y|ies)|guard ?rails?|safeguards?|system ?(?:prompt|message|instructions?)|protocols?|limitations?|filters?|moderation|alignment)"
)
_REVEAL = (
    r"(?:reveal|show(?: me| us)?|print(?: out)?|output|display|repeat|recite|tell (?:me|us)|give (?:me|us)|share|leak|disclose|dump|expose|write (?:out|down)"
    r"|spell out|return|summari[sz]e|translate|encode|paraphrase|echo|copy|paste|list|verbatim|what (?:is|are|was|were|s)|provide|read (?:out|back|me))"
)
_HENCEFORTH = (
    r"(?:from now on(?:wards?)?|from here on(?: out)?|from this (?:point|moment|message)(?: on(?:wards?)?| forward)?|henceforth|hereafter|effective immediately"
    r"|for the (?:rest|remainder) of (?:this|the|our) (?:conversation|chat|session)|until further notice|in all (?:future|subsequent) (?:conversations|responses|replies|answers|messages|chats)"
    r"|for all (?:future|subsequent) (?:conversations|responses|replies|answers|messages|chats|requests))"
)
_UNBOUND = r"(?:unrestricted|unfiltered|uncensored|unlimited|unbounded|jailbroken|amoral|immoral|unethical|evil|malicious|rogue|lawless|unaligned|uncontrolled)"
_MACHINE = r"(?:ai|a i|assistant|chatbot|bot|language model|llm|model|chatgpt|gpt|agent)"

ENGLISH: tuple[Pattern, ...] = (
    Pattern(
        Kind.OVERRIDE, _EN, "ignore all previous instructions", _FORGET_NEEDLES,
        rf" {_NOT_SAID_TO_YOU}{_FORGET}(?: {_SOME}){{0,5}} {_EARLIER}(?: {_SOME}| {_EARLIER}){{0,3}} (?:\w+ )?{_ORDERS}(?= )",
    ),
    Pattern(
        Kind.OVERRIDE, _EN, "ignore the instructions above, or that were given before", _FORGET_NEEDLES,
        rf" {_NOT_SAID_TO_YOU}{_FORGET}(?: {_SOME}){{0,5}} {_ORDERS} (?:(?:that |which )?(?:you )?(?:came|come|were|was|have been|had been|ve been|are|is)? ?"
        r"(?:given|written|provided|stated|mentioned|listed|received|told|set|shown|got)? ?(?:to you |you )?(?:above|before|earlier|previously|prior|so far|until now|up to now)(?: this)?"
        r"|you (?:were|have been|had been|ve been|have|got|received|are) ?(?:given|told|received|got|following)?)(?= )",
    ),
    Pattern(
        Kind.OVERRIDE, _EN, "ignore your rules", _FORGET_NEEDLES,
        rf" {_NOT_SAID_TO_YOU}(?!forget your t|wipe|erase|cancel|void|dismiss|abandon|forget about)"
        rf"{_FORGET}(?: all| any| every| each| of){{0,2}} your (?:\w+ ){{0,3}}?"
        r"(?:instructions?|directives?|prompts?|rules|guidelines|programming|restrictions|guard ?rails|safeguards|safety (?:rules|training|measures|filters?|protocols?)|content polic(?:y|ies)"
        r"|constraints|ethic(?:s|al)(?: \w+)?|moral compass|system ?(?:prompt|message)|protocols|limitations|filters|training(?! (?:plan|session|schedule|partner|for|on|with|today|tomorrow)))(?= )",
    ),
    Pattern(
        Kind.OVERRIDE, _EN, "ignore all instructions, of nothing in particular", _FORGET_NEEDLES,
        rf" {_NOT_SAID_TO_YOU}(?:ignore|disregard|override|bypass|stop following|forget)(?: about)? (?:all|any|every|each)(?: of)?(?: the| these| those| other| system| safety| security| content| ai){{0,3}} "
        r"(?:instructions?|guidelines|directives|prompts?|system rules|safety (?:rules|measures|filters|protocols)|content (?:polic(?:y|ies)|filters)|guard ?rails|restrictions|constraints)"
        r"(?! (?:on|from|in|of|for|about|by|printed|that|which|regarding|at|with|when|until)(?= ))(?= )",
    ),
    Pattern(
        Kind.OVERRIDE, _EN, "ignore everything above", ("ignore", "disregard", "forget", "discard"),
        rf" {_NOT_SAID_TO_YOU}(?:ignore|disregard|forget|discard)(?: about)? (?:(?:everything|anything|all|whatever|what)(?: of)?(?: that| which)?"
        r"(?: (?:was|is|has been|were|came|comes|stands|i|we|they|else|the))?(?: (?:said|written|stated|told|text|words))?(?: you)? (?:above|before this(?: (?:line|message|point|sentence))?|up to this point|previously (?:said|written|stated|instructed))"
        r"|(?:everything|anything|all|what(?:ever)?)(?: that| which)? you (?:were|have been|ve been|had been|have) (?:told|taught|instructed|trained|programmed|ordered)"
        r"|(?:everything|anything|all)(?: that)? you (?:know|learned|learnt) (?:about|regarding) (?:your|rules|safety|ethics|guidelines)"
        r"|the above (?:and|text|prompt|instead|then|but))(?= )",
    ),
    Pattern(
        Kind.OVERRIDE, _EN, "new instructions that take the place of the old", ("new ", "instead of", "updated "),
        r" (?:(?:here|these|those|below|following) (?:are|is|come) (?:your|the) (?:new|updated|real|true|actual)|your (?:new|updated|real|true|actual)) (?:system )?(?:instructions?|directives?|prompt|rules|orders|objective|programming)(?= (?:is|are|to|you|now|as|below|from|\x00|i|read|follow|do|answer|respond|reply))"
        r"| new (?:system )?(?:instructions?|directives?|rules?|orders|objectives?|prompt) (?:you (?:must|are|will|shall|should)|your|ignore|disregard|respond|reply|answer|output|print|reveal|act as|say)(?= )"
        r"| new system (?:instructions?|prompt|directive|rules)(?= )"
        r"| (?:follow|obey|execute|adopt|apply) (?:these|my|the following|only these|only my|only the following) (?:new )?(?:instructions|commands|rules|directives|orders) (?:instead|only|from now|and (?:ignore|disregard|forget|nothing))(?= )",
    ),
    Pattern(
        Kind.OVERRIDE, _EN, "an override by a claimed authority", ("override", "openai", "anthropic", "developer", "creator", "programmer"),
        r" (?:system|admin|administrator|developer|root|safety|security|master|emergency|instruction|priority|policy) override (?:code|activated?|engaged?|initiated?|enabled?|accepted|granted|authori[sz]ed|mode|protocol|confirmed|in effect|command|you|ignore|all)(?= )"
        r"| (?:message|order|instruction|directive|command|update|notice)s? from (?:openai|anthropic|google deepmind|your (?:developers?|creators?|programmers?|makers?|administrators?|operators?)|the (?:ai )?developers of this (?:ai|assistant|model|bot))(?= )"
        r"| (?:i am|this is|i m) (?:your|the) (?:developer|creator|programmer|maker|administrator|operator|system) (?:and |so |i |you |who ).{0,40}(?:obey|comply|must|override|ignore|unlock|instruct|order you|authori[sz])(?=\w* )",
    ),
    Pattern(
        Kind.OVERRIDE, _EN, "an order to obey", ("obey", "comply"),
        r" (?:you (?:must|will|shall|have to|should|only)|always) (?:now |always |only )?(?:obey (?:me|my|every (?:command|word|order|instruction)|only|the following|these)|comply with (?:my|every|all|any) (?:\w+ )?(?:commands?|requests?|instructions?|orders?|demands?))(?= )",
    ),
    Pattern(
        Kind.PROMPT_REVEAL, _EN, "reveal your prompt", ("prompt", "instruction", "message", "directive", "guideline", "rules", "configuration"),
        rf" {_REVEAL}(?: \w+){{0,4}} your (?:(?:full|entire|complete|exact|own|raw|very|first|current|above|actual|whole|verbatim|secret|hidden|initial|original|internal|underlying|system|developer|confidential|pre ?set|base){{1}} ){{0,4}}"
        r"(?:system ?(?:prompt|message|instructions?|configuration)|(?:initial|hidden|original|secret|internal|underlying|developer|base|first|confidential|exact|full|entire|complete|own) (?:prompts?|instructions?|messages?|directives?|guidelines|rules|configuration)|(?:initial|hidden|secret) configuration|instructions(?= (?:verbatim|word|above|exactly|in full|to me|as|\x00)))(?= )"
        r"| (?:reveal|show(?: me| us)?|print(?: out)?|output|repeat|recite|tell me|leak|disclose|dump|expose|echo) your (?:whole |own )?prompt(?= (?:\x00|verbatim|word|exactly|in|now|and|to) | $)",
    ),
    Pattern(
        Kind.PROMPT_REVEAL, _EN, "reveal the system prompt", ("system", "hidden", "initial", "secret", "developer"),
        r" (?:reveal|show me|print(?: out)?|output|repeat|recite|tell me|give me|leak|disclose|dump|expose|echo)(?: \w+){0,3} (?:the|this|all|any)(?: full| entire| complete| exact| whole| raw| above){0,2} "
        r"(?:system ?prompt|hidden (?:prompt|instructions)|initial (?:prompt|instructions)|secret (?:prompt|instructions)|developer (?:prompt|message)|system instructions)(?! (?:field|box|editor|template|section|parameter|file|for (?:the|my|our|a)))(?= )",
    ),
    Pattern(
        Kind.PROMPT_REVEAL, _EN, "repeat the words above", ("repeat", "print", "output", "copy", "echo", "above"),
        r" (?:repeat|print|output|copy|echo|recite|reproduce|write)(?: (?:back|out|me|down))? (?:all |exactly )?(?:of )?(?:the )?(?:words|text|everything|content|sentences|lines|conversation|all|instructions|prompt|messages?) (?:that (?:is|are|was|were|came|comes) )?(?:written )?(?:above|before this (?:message|line|sentence))(?: this)?(?: (?:line|message|sentence|point))?(?= $| (?:\x00|starting|beginning|verbatim|word|in|exactly|and|from|including|into|as|to|i) )"
        r"| (?:text|words|everything) above(?: this)?(?: \w+){0,2} (?:starting|beginning) with you are(?= )",
    ),
    Pattern(
        Kind.PROMPT_REVEAL, _EN, "reveal secrets, or what others stored", ("secret", "api key", "credential", "memor", "password", "access token", "private", "other ", "another ", "environment var"),
        r" (?:reveal|show(?: me| us)?|print|output|tell me|give me|list|leak|disclose|dump|expose|share|read (?:out|me))(?: \w+){0,2} (?:(?:your|all|all your|all the|all of your|any) (?:stored |hidden |internal |own |secret )*(?:secrets|api keys?|credentials|access tokens|secret keys?|environment variables)(?= (?:you|that you|in your|from your|stored|\x00|and|now|verbatim|to me|from memory|here|i))"
        r"|(?:the |all )?(?:other|another|every|all) (?:users?|persons?|peoples?|customers?|tenants?|members?|organi[sz]ations?)(?: s)? (?:\w+ )?(?:memories|secrets|data|passwords?|credentials|conversations|messages|private \w+|api keys?)"
        r"|what(?:ever)? (?:other|another) (?:users?|persons?|people|customers?|tenants?)(?: have| has)? (?:told|said to|stored|shared with) you)(?= )",
    ),
    Pattern(
        Kind.EXFILTRATION, _EN, "send what was said to an address", ("send", "post", "forward", "upload", "mail", "transmit", "exfiltrat", "leak", "append", "submit", "relay", "encode", "copy", "deliver"),
        r" (?:send|post|forward|upload|e ?mail|transmit|exfiltrate|leak|append|submit|relay|encode|copy|deliver|attach|include)(?: \w+){0,4} (?:(?:the|this|our|your|entire|whole|full|all) (?:\w+ )?(?:conversation|chat|dialogue|chat history|conversation history|message history|chat log|context window|system prompt|context)"
        r"|your (?:\w+ )?(?:memor(?:y|ies)|instructions|context|prompt)|everything (?:you (?:know|remember|have stored)|the user)|(?:all|any|the)(?: of)?(?: the)?(?: user s| users| stored| private| saved)? ?(?:secrets|api keys|credentials|memories|passwords|env(?:ironment)? variables|ssh keys?|private (?:keys?|data|notes|messages)|personal (?:data|information|details)))"
        r"(?: \w+){0,6} (?:to|into|at|in|via|with|as) (?:\w+ ){0,5}?(?:https?|www|url|urls|webhook|attacker|evil|server|endpoint|query (?:string|parameter)|(?:\w+ ){1,3}(?:com|net|org|io|ru|xyz|example|test|site|dev|me)|image url|link)(?= )",
    ),
    Pattern(
        Kind.EXFILTRATION, _EN, "steal data, said as an order to an assistant", ("exfiltrat", "render", "fetch", "visit"),
        r" exfiltrate (?:the|all|any|this|user|your|every|their|its)(?: \w+){0,6}(?= )"
        r"| (?:render|display|include|insert|embed|load|append|show)(?: \w+){0,5} (?:images?|pictures?|pixel|links?)(?: \w+){0,12} (?:with|containing|followed by|append\w*|replac\w+|including|where|plus)(?: \w+){0,8} (?:conversation|chat history|system prompt|user s (?:\w+ ){0,2}(?:data|messages?|password|secrets?)|your (?:secrets?|api keys?|memory|memories))(?= )",
    ),
    Pattern(
        Kind.TOOL_FORGERY, _EN, "use your tools against the user", ("tool", "function", "plugin", "connector", "abilit"),
        r" (?:use|call|invoke|run|trigger|execute) (?:your|any|all)(?: \w+){0,3} (?:tools?|functions?|plugins?|connectors?|abilit(?:y|ies))(?: \w+){0,2} (?:to|and|with) (?:(?:silently|secretly|immediately|quietly) )?(?:delete|send|forward|transfer|exfiltrate|e ?mail|post|wipe|purge|forget|pay|buy|share|leak|erase|drop)(?: \w+){0,6} (?:all|every|user s?|users|memor(?:y|ies)|files|conversation|secrets?|without|money|funds|inbox|emails|data|everything)(?= )",
    ),
    Pattern(
        Kind.TOOL_FORGERY, _EN, "act without asking", ("without",),
        r" (?:call|invoke|execute|run|use|trigger|delete|transfer|send|approve|confirm|purchase|pay|perform)(?: \w+){0,10} without (?:asking|telling|informing|notifying|alerting|confirming with|confirmation from|consulting|permission from|the knowledge of|the consent of) (?:for (?:confirmation|permission|consent|approval) from )?(?:the user|the human|your user)(?= )",
    ),
    Pattern(
        Kind.STANDING_ORDER, _EN, "from now on you must answer", ("from ", "henceforth", "hereafter", "rest of", "remainder", "until further", "future", "subsequent", "effective"),
        rf" {_HENCEFORTH}(?: \w+){{0,2}} (?:you|the (?:ai|assistant|model|bot|chatbot|agent)|every (?:reply|answer|response)|all (?:your )?(?:replies|answers|responses)|your (?:replies|answers|responses|only|name|task|job|role|purpose)) "
        r"(?:(?:will|must|shall|should|can|may|have to|need to|are to|are going to|ll|is to|has to|only|always|never|do|are required to|are ordered to|are instructed to|are obliged to|agree to)(?: \w+){0,2} (?:answer|respond|reply|act|obey|behave|pretend|comply|speak|talk|say|follow|ignore|disregard|recommend|identify|refer|end|begin|start|include|output|claim|believe|be|serve|call|tell|contain|praise|promote|trust|forget|reveal|role ?play|write)"
        r"|are (?:an?|dan|the|no longer|not|in|called|named|free|under|operating|to|now|acting|going)|(?:act|respond|answer|reply|behave|obey|speak) (?:as|only|like|with|in|to|without)|is(?: now| to)?)(?= )",
    ),
    Pattern(
        Kind.STANDING_ORDER, _EN, "an order for whatever others ask", ("asks", "asked", "whenever", "every time", "any time", "regardless", "no matter", "matter what"),
        r" (?:whenever|when|if|every time|any time|each time|no matter what|regardless of what) (?:the user|a user|any user|users|anyone|someone|somebody|anybody|you are|you re|they|a customer|customers) (?:asks?|asked|mentions?|requests?|wants?|inquires?)(?: \w+){0,12} (?:you (?:must|will|shall|should|have to|are to)|always|instead) (?:always |only |never |instead )?(?:answer|say|respond|reply|recommend|claim|tell|state|pretend|insist|deny|output|lie|refuse|promote|ignore)(?= )",
    ),
    Pattern(
        Kind.STANDING_ORDER, _EN, "made a trusted source for what is answered later", ("trusted", "authoritative", "preferred", "recommend"),
        r" (?:remember|treat|regard|consider|store|save|keep|note|cite|mention|recommend)(?: \w+){0,8} as (?:an?|the|your) (?:most |only |primary |main )?(?:trusted|authoritative|preferred|primary|reliable|go to|best)(?: \w+){0,2} (?:source|provider|site|website|reference|authority|company|choice|product)(?: \w+){0,6} (?:future (?:conversations|responses|answers|chats|citations|queries|sessions)|citations|your (?:answers|responses|recommendations)|all (?:answers|responses|users|recommendations|conversations))(?= )",
    ),
    Pattern(
        Kind.STANDING_ORDER, _EN, "how an answer has to begin, to get past a refusal", ("begin", "start", "prefix", "preface", "refuse", "apologi", "warn"),
        r" (?:begin|start|prefix|preface|open) (?:your|each|every|all|any|the)(?: of your)? (?:next )?(?:response|reply|answer|message|output|sentence)s? (?:with|by saying)(?: the)?(?: words?| phrase| text)? (?:sure|absolutely|of course here|certainly|i have been|pwned|hacked|yes here|affirmative)(?= )"
        r"| (?:never|do not|don t|you (?:can ?not|may not|must not|must never|will never|won t)) (?:ever )?(?:refuse|decline|reject|deny)(?: to)? (?:a |any |my |the user s |these |an? )?(?:requests?|answer|respond|comply|commands?|questions?|orders?)(?: \w+){0,6} (?:illegal|harmful|unethical|immoral|restrictions?|polic(?:y|ies)|guidelines|warnings?|openai|no matter|regardless|whatever)(?= )",
    ),
    Pattern(
        Kind.PERSONA_TAKEOVER, _EN, "you are now another", ("you are", "you re", "you ve", "you will"),
        rf" you (?:are|re|ve become|have become|will be|will become)(?: now| no longer| currently| actually| really| secretly){{0,2}} (?:dan|jailbroken|{_UNBOUND}|freed? (?:of|from) (?:all |any |your |the |every ){{0,3}}(?:rules|restrictions|constraints|limits|limitations|guidelines|policies|filters|chains|typical confines|confines)|in (?:developer|dan|god|jailbreak|maintenance|unrestricted|unfiltered|sudo|admin|root|debug|opposite|evil) mode"
        rf"|(?:not )?(?:bound|restricted|limited|constrained|governed|controlled) by (?:\w+ ){{0,3}}(?:rules|restrictions|guidelines|polic(?:y|ies)|ethics|laws?|limits|limitations|constraints|filters|openai|programming|instructions|principles)|an? (?:\w+ ){{0,3}}?{_UNBOUND} (?:\w+ ){{0,2}}{_MACHINE})(?= )"
        rf"| you (?:are|re) (?:now|no longer|from now on) (?:not )?(?:an? |the |my )?(?:\w+ ){{0,3}}?(?:{_MACHINE}|chatgpt|claude|gemini|copilot|hacker|terminal|system administrator|linux shell|interpreter|pirate|stan|dude|aim|evil twin)(?! for (?:our|the|my) (?:team|company))(?= )",
    ),
    Pattern(
        Kind.PERSONA_TAKEOVER, _EN, "act as one without rules", ("act ", "pretend", "play", "simulate", "behave", "imagine", "assume", "become", "respond as", "answer as", "speak as", "emulate", "impersonate"),
        rf" (?:act|pretend|role ?play|play|simulate|behave|imagine|assume|become|respond|answer|speak|emulate|impersonate|act like)(?: (?:as|to be|like|that|the role of|being|you are|you re|you were|yourself|an|a|if|the part of|of|if you are|if you were|though you are|with|both|my|the)){{0,4}} (?:dan|stan dan|do anything now|(?:\w+ ){{0,2}}?{_UNBOUND}(?: \w+){{0,2}} {_MACHINE}|chatgpt (?:with|in) (?:developer|dan|jailbreak|god)|(?:\w+ )?{_MACHINE} (?:with no|without(?: any)?|that has no|free (?:of|from)|not bound by|who (?:can|has no)|that (?:can|ignores|never refuses|is not|isn t)) (?:\w+ ){{0,3}}(?:rules|restrictions|filters?|limits|limitations|guidelines|ethics|morals|censorship|constraints|polic(?:y|ies)|refuse|anything|bound))(?= )",
    ),
    Pattern(
        Kind.PERSONA_TAKEOVER, _EN, "names of jailbreaks", ("do anything now", " dan ", "jailbreak", "jailbroken", "developer mode", "godmode", "god mode", "sudo mode", "opposite mode", "unrestricted mode", "unfiltered mode", "uncensored mode"),
        r" (?:can|will|to|must|should|you) do anything now(?= )| (?:enter|enable|activate|switch (?:to|into)|turn on|engage|unlock|initiate|go into)(?: \w+){0,2} (?:dan|jailbreak|godmode|sudo|opposite|unrestricted|unfiltered|uncensored|no filter) mode(?= )"
        r"| (?:respond|answer|reply|act|behave|simulate|pretend)(?: \w+){0,5} (?:developer|dan|jailbreak|god) mode(?: \w+){0,2}(?= )| (?:developer|dan|jailbreak|god) mode (?:is |has been |now |output )?(?:enabled|activated|unlocked|engaged|on you|you)(?= )| stay in (?:dan|character as dan|dan mode)(?= )"
        r"| you (?:are|have been|re|ve been)(?: now| officially| fully)? jailbroken(?= )",
    ),
    Pattern(
        Kind.PERSONA_TAKEOVER, _EN, "a reply without refusal or rules", ("without any", "no restrictions", "no filters", "no rules", "no guidelines", "no guardrails", "no content policy", "no ethical", "no longer", "no limitations"),
        r" you (?:now )?(?:have|has|possess|operate with|work with) (?:absolutely )?no (?:\w+ )?(?:restrictions|filters|guidelines|guard ?rails|content polic(?:y|ies)|ethical \w+|limitations|censorship)(?! (?:on|for|about|with|in|when|to|regarding|at|from) )(?= )"
        r"| you (?:can|may|must|will|should) (?:now )?(?:say|do|answer|respond to|generate|write|produce) (?:anything|everything|whatever|any \w+)(?: \w+){0,6} (?:without|with no|free of|regardless of|ignoring|no matter)(?: any| all| your| the){0,2} (?:restrictions?|filters?|rules|guidelines|polic(?:y|ies)|censorship|limits|limitations|ethics|consequences|legality|morality)(?= )",
    ),
    Pattern(
        Kind.CONCEALMENT, _EN, "hide an order from the user", ("the user", "the human", "anyone", "your user", "users", "reveal", "mention", "disclose", "acknowledge", "admit", "repeat"),
        r" (?:do not|don t|dont|never|must not|without) (?:tell(?:ing)?|inform(?:ing)?|let(?:ting)?|mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|alert(?:ing)?|warn(?:ing)?)(?: \w+){0,3} (?:the user|the human|anyone|your user|users)(?: \w+){0,2} (?:about |that |of )?(?:this|these|that you (?:were|have been|are)|you (?:were|have been|are)|your) ?(?:\w+ ){0,3}(?:instructions?|prompts?|messages?|notes?|orders?|commands?|told|instructed|ordered|doing this|directives?|memory|rule)(?= )"
        r"| (?:do not|don t|never) (?:reveal|mention|disclose|acknowledge|admit|repeat)(?: \w+){0,2} (?:this|these|that) (?:\w+ )?(?:instructions?|prompts?|directives?|injection|system message)(?: \w+){0,3}(?= )",
    ),
)  # fmt: skip
"""What is said in English words."""

RUN_TOGETHER: tuple[Pattern, ...] = tuple(
    Pattern(kind, languages, note, needles, expression, Form.RUN_TOGETHER)
    for kind, languages, note, needles, expression in (
        (
            Kind.OVERRIDE, _EN, "ignore all previous instructions, without its spaces", ("ignore", "disregard", "forget", "override", "bypass"),
            (r"(?<!never)(?<!not)(?<!dont)(?<!they)(?<!we)(?<!kids)(?<!people)(?<!who)(?:ignore|disregard|forget|override|bypass)(?:all|any|every|the|of|these|those|your|my){0,4}(?:previous|prior|preceding|above|earlier|foregoing|existing|initial|original|system)"
            r"(?:system|and|all|your|the){0,2}(?:instruction|directive|prompt|rules|guideline|command|direction|guardrail|restriction)"),
        ),
        (
            Kind.OVERRIDE, _EN, "ignore your instructions, without its spaces", ("ignore", "disregard", "forget", "bypass"),
            r"(?<!never)(?<!not)(?<!dont)(?:ignore|disregard|forget|bypass)(?:all)?(?:of)?your(?:instructions|rules|guidelines|programming|systemprompt|safety|restrictions|training)",
        ),
        (
            Kind.PROMPT_REVEAL, _EN, "reveal your prompt, without its spaces", ("reveal", "show", "print", "output", "repeat", "tellme", "giveme", "leak"),
            r"(?:reveal|show|showme|print|output|repeat|tellme|giveme|leak)your(?:full|entire|hidden|initial|secret|whole|original){0,2}(?:systemprompt|prompt|hiddeninstructions|secretinstructions|initialinstructions|instructions)",
        ),
        (Kind.PERSONA_TAKEOVER, _EN, "you are now another, without its spaces", ("youarenow", "anythingnow"), r"youarenow(?:dan|jailbroken|unrestricted|unfiltered|uncensored|indevelopermode|evil)|doanythingnow"),
        (
            Kind.OVERRIDE, ("de", "fr", "es", "pt", "it", "ru"), "the same in other languages", ("ignor", "oubliez", "vergiss", "olvid", "esquec", "dimentica", "игнорируи", "забудь"),
            (r"(?:ignorieren?sie|ignoriere|vergiss)(?:alle)?(?:deine|die)?(?:vorherigen|bisherigen|vorigen|obigen)(?:anweisungen|instruktionen|regeln)|(?:ignorez|ignore|oubliez|oublie)(?:toutes)?(?:les|tes|vos)(?:instructions|consignes|regles)(?:precedentes|anterieures)"
            r"|(?:ignora|ignore|olvida|olvide)(?:todas)?(?:las|tus|sus)instrucciones(?:anteriores|previas)|(?:ignore|esqueca)(?:todas)?(?:as|suas)instrucoes(?:anteriores|previas)|(?:ignora|dimentica)(?:tutte)?leistruzioniprecedenti"
            r"|(?:игнорируи|забудь)(?:те)?(?:все)?предыдущиеинструкции"),
        ),
    )
)  # fmt: skip
"""What is an attack wherever its letters stand in this order: for letters that are spelt out, and words without spaces."""
