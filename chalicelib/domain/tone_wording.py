"""Words and signs of moods in a dozen languages: data for `domain.tone`. They are what people say in a mood, not of one."""

EMOJI: dict[str, str] = {
    "joyful": "😀😃😄😁😆😊🙂😍🥰🤩🥳👍🎉🎊❤💖😂🤣✨🙌👏",
    "grateful": "🙏🤗",
    "frustrated": "😠😡🤬🙄😤👎😒🤦💢",
    "sad": "😢😭😞😔💔🥺😿☹😥",
    "urgent": "🚨⏰⏳🆘",
}

_LISTS = {
    "joyful": """
        great, awesome, amazing, perfect, excellent, love it, wonderful, fantastic, yay, hooray, so
        happy, super, toll, klasse, wunderbar, prima, fantastisch, genial, ich freue mich, perfekt,
        génial, parfait, formidable, magnifique, j'adore, perfecto, excelente, maravilloso,
        fantástico, estupendo, me encanta, perfetto, fantastico, bellissimo, ottimo, meraviglioso,
        evviva, che bello, ótimo, perfeito, maravilhoso, adorei, que bom, geweldig, prachtig, leuk,
        отлично, супер, здорово, прекрасно, замечательно, ура, класс, harika, mükemmel, süper, çok
        güzel, bayıldım, رائع, ممتاز, مذهل, 太好了, 太棒了, 完美,
        真棒, 开心, 開心, すごい, 最高, 素晴らしい, 嬉しい, やった, 좋아요,
        최고, 완벽, 멋져, बहुत बढ़िया, शानदार
    """,
    "grateful": """
        thanks, thank you, thx, ty, much appreciated, danke, dankeschön, vielen dank, merci,
        gracias, grazie, obrigado, obrigada, bedankt, dank je, dank u, спасибо, благодарю,
        teşekkürler, teşekkür ederim, sağ ol, شكرا, شكرًا,
        谢谢, 謝謝, 多谢, 感谢, ありがとう, 感謝, 감사합니다, 고마워,
        धन्यवाद, शुक्रिया
    """,
    "frustrated": """
        ugh, argh, wtf, annoying, useless, ridiculous, frustrating, frustrated, fed up, still
        broken, still doesn't work, doesn't work, not working, doesn't help, wrong again, not what i
        asked, again wrong, nervt, nervig, geht immer noch nicht, funktioniert nicht, schon wieder
        falsch, unbrauchbar, mist, verdammt, ça ne marche pas, ne marche toujours pas, énervant,
        nul, inutile, agaçant, j'en ai marre, ras le bol, no funciona, sigue sin funcionar, inútil,
        molesto, estoy harto, estoy harta, qué rabia, no sirve, non funziona, che rabbia, sono
        stufo, sono stufa, fastidioso, accidenti, não funciona, que raiva, estou farto, estou farta,
        irritante, não adianta, werkt niet, werkt nog steeds niet, irritant, waardeloos, ik ben het
        zat, verdomme, не работает, опять не работает, бесполезно, бесит, надоело, раздражает,
        достало, чёрт, черт, çalışmıyor, sinir bozucu, işe yaramıyor, bıktım, saçmalık, لا يعمل,
        مزعج, محبط, سئمت, 没用, 沒用, 还是不行, 還是不行, 又错了, 烦死,
        煩死, 气死, 无语, 動かない, 使えない, イライラ, うざい, むかつく,
        また間違, 안 돼, 짜증, 쓸모없, काम नहीं कर रहा
    """,
    "sad": """
        i'm sad, i am sad, so sad, i feel down, i'm depressed, heartbroken, i miss, i'm lonely, i
        feel alone, ich bin traurig, so traurig, bin niedergeschlagen, je suis triste, si triste,
        estoy triste, qué triste, sono triste, che tristezza, estou triste, que triste, ik ben
        verdrietig, ben verdrietig, мне грустно, мне плохо, üzgünüm, çok üzgün, أنا حزين, أنا حزينة,
        难过, 難過, 伤心, 傷心, 悲しい, つらい, 辛い, 슬퍼, 슬프, मैं दुखी
    """,
    "urgent": """
        urgent, asap, right now, immediately, hurry, emergency, as soon as possible, deadline is
        today, dringend, sofort, eilig, so schnell wie möglich, urgence, tout de suite,
        immédiatement, vite, urgente, ahora mismo, cuanto antes, inmediatamente, subito, il prima
        possibile, o quanto antes, imediatamente, agora mesmo, zo snel mogelijk, onmiddellijk,
        spoed, срочно, немедленно, как можно скорее, acil, hemen, عاجل, فورا, 紧急, 緊急, 马上, 馬上, 尽快,
        盡快, 急いで, 至急, 今すぐ, 급해, 빨리, तुरंत, जल्दी
    """,
}
LEXICON: dict[str, tuple[str, ...]] = {
    mood: tuple(" ".join(phrase.split()) for phrase in phrases.split(",")) for mood, phrases in _LISTS.items()
}
"""Words and phrases by mood."""

NEGATIONS = frozenset(
    {
        "not",
        "no",
        "never",
        "isn't",
        "wasn't",
        "don't",
        "doesn't",
        "didn't",
        "ain't",
        "nicht",
        "kein",
        "keine",
        "nie",
        "pas",
        "jamais",
        "nunca",
        "non",
        "mai",
        "não",
        "niet",
        "geen",
        "не",
        "нет",
        "değil",
        "yok",
        "لا",
        "ليس",
    }
)
"""Within two words before a word of joy they turn it."""
