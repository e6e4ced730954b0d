"""How people say, in a dozen languages, in which language they want answers: data for `write.preferences`."""

IN_LANGUAGE: tuple[tuple[str, str], ...] = (
    (
        "English",
        (
            r"in english|auf englisch|en anglais|en inglés|in inglese|em inglês|in het engels"
            r"|по-английски|на английском|ingilizce|(?:用|说|講|讲)(?:英语|英文|英語)|英語で"
        ),
    ),
    (
        "German",
        (
            r"in german|auf deutsch|en allemand|en alemán|in tedesco|em alemão|in het duits"
            r"|по-немецки|на немецком|almanca|(?:用|说|講|讲)(?:德语|德文|德語)|ドイツ語で"
        ),
    ),
    (
        "French",
        (
            r"in french|auf französisch|en français|en francés|in francese|em francês|in het frans"
            r"|по-французски|на французском|fransızca|(?:用|说|講|讲)(?:法语|法文|法語)|フランス語で"
        ),
    ),
    (
        "Spanish",
        (
            r"in spanish|auf spanisch|en espagnol|en español|in spagnolo|em espanhol|in het spaans"
            r"|по-испански|на испанском|ispanyolca|(?:用|说|講|讲)(?:西班牙语|西班牙文|西班牙語)|スペイン語で"
        ),
    ),
    (
        "Italian",
        (
            r"in italian|auf italienisch|en italien|en italiano|in italiano|em italiano"
            r"|in het italiaans|по-итальянски|на итальянском|italyanca"
            r"|(?:用|说|講|讲)(?:意大利语|意大利文|義大利語)|イタリア語で"
        ),
    ),
    (
        "Portuguese",
        (
            r"in portuguese|auf portugiesisch|en portugais|en portugués|in portoghese|em português"
            r"|in het portugees|по-португальски|на португальском|portekizce"
            r"|(?:用|说|講|讲)(?:葡萄牙语|葡萄牙文)|ポルトガル語で"
        ),
    ),
    (
        "Dutch",
        (
            r"in dutch|auf niederländisch|auf holländisch|en néerlandais|en neerlandés|in olandese"
            r"|em holandês|in het nederlands|по-голландски|на голландском|felemenkçe|(?:用|说|講|讲)荷兰语"
            r"|オランダ語で"
        ),
    ),
    (
        "Russian",
        (
            r"in russian|auf russisch|en russe|en ruso|in russo|em russo|in het russisch|по-русски"
            r"|на русском|rusça|(?:用|说|講|讲)(?:俄语|俄文|俄語)|ロシア語で"
        ),
    ),
    (
        "Turkish",
        (
            r"in turkish|auf türkisch|en turc|en turco|in turco|em turco|in het turks|по-турецки"
            r"|на турецком|türkçe|(?:用|说|講|讲)土耳其语|トルコ語で"
        ),
    ),
    (
        "Chinese",
        (
            r"in chinese|auf chinesisch|en chinois|en chino|in cinese|em chinês|in het chinees"
            r"|по-китайски|на китайском|çince|(?:用|说|講|讲)(?:中文|汉语|漢語|普通话|國語)|中国語で"
        ),
    ),
    (
        "Japanese",
        (
            r"in japanese|auf japanisch|en japonais|en japonés|in giapponese|em japonês"
            r"|in het japans|по-японски|на японском|japonca|(?:用|说|講|讲)(?:日语|日文|日語)|日本語で"
        ),
    ),
    (
        "Arabic",
        (
            r"in arabic|auf arabisch|en arabe|en árabe|in arabo|em árabe|in het arabisch|по-арабски"
            r"|на арабском|arapça|(?:用|说|講|讲)(?:阿拉伯语|阿拉伯文)|アラビア語で"
        ),
    ),
)
"""The language that answers are wanted in, and how it is said in any of these languages."""
