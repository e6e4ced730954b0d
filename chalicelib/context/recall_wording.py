"""How people refer to what was said before in the conversation, by language: a table of `domain.text.cues`."""

from chalicelib.domain.text.cues import ANYWHERE, Cues

REFERS_BACK = Cues(
    {
        "english": """
            earlier you said | you said earlier | you said | as you said | as we discussed | we discussed |
            we talked about | remember when | do you remember | remember that | earlier i said |
            i told you | i mentioned | you mentioned | as mentioned | as i said | what did i say |
            what did we say | what did we decide | did we decide | we agreed | we decided | last time |
            back when we | before you said | earlier in this conversation | at the beginning | previously
        """,
        "german": """
            vorhin | du sagtest | du hast gesagt | sie sagten | sie haben gesagt | wie besprochen |
            wir haben besprochen | wir besprachen | erinnerst du dich | erinnern sie sich | weißt du noch |
            ich habe dir gesagt | ich sagte | ich erwähnte | wie erwähnt | letztes mal |
            was haben wir entschieden | was hatten wir | am anfang
        """,
        "french": """
            tu as dit | vous avez dit | tu disais | comme on a dit | comme convenu | on a discuté |
            nous avons discuté | nous avons parlé | on a parlé | tu te souviens | vous vous souvenez |
            rappelle-toi | je t'ai dit | je vous ai dit | j'ai mentionné | tout à l'heure |
            la dernière fois | plus tôt | qu'avons-nous décidé | au début
        """,
        "spanish": """
            dijiste | usted dijo | como dijimos | como hablamos | hablamos de | comentamos | te acuerdas |
            se acuerda | recuerdas | te dije | le dije | mencioné | mencionaste | antes dijiste |
            la última vez | qué decidimos | al principio | anteriormente
        """,
        "italian": """
            hai detto | avevi detto | ha detto prima | come abbiamo detto | abbiamo discusso |
            abbiamo parlato | ti ricordi | si ricorda | ricordi quando | ti ho detto | ho menzionato |
            l'ultima volta | prima dicevi | cosa abbiamo deciso | all'inizio
        """,
        "portuguese": """
            você disse | disseste | como combinamos | como discutimos | falamos sobre | conversamos sobre |
            você lembra | lembra quando | lembras-te | eu te disse | eu disse | mencionei | da última vez |
            o que decidimos | no início | anteriormente
        """,
        "dutch": """
            je zei | u zei | zoals besproken | we hebben besproken | we bespraken | we hadden het over |
            weet je nog | herinner je je | ik heb je verteld | ik zei | ik noemde | de vorige keer |
            daarnet | wat hebben we besloten | eerder
        """,
        "swedish": """
            du sa | du sade | som vi diskuterade | vi pratade om | vi diskuterade | minns du |
            kommer du ihåg | jag sa | jag nämnde | förra gången | tidigare | vad bestämde vi
        """,
        "polish": """
            mówiłeś | mówiłaś | powiedziałeś | jak ustaliliśmy | rozmawialiśmy | pamiętasz | mówiłem |
            mówiłam | wspomniałem | ostatnio | wcześniej
        """,
        "russian": """
            ты говорил | ты говорила | вы говорили | ты сказал | ты сказала | вы сказали |
            как мы обсуждали | мы обсуждали | мы говорили | помнишь | помните | я говорил | я говорила |
            я сказал | я упоминал | в прошлый раз | раньше | что мы решили
        """,
        "turkish": """
            demiştin | demiştiniz | söylemiştin | söylemiştiniz | konuştuğumuz | konuşmuştuk |
            hatırlıyor musun | hatırlar mısın | sana söylemiştim | bahsetmiştim | geçen sefer | daha önce |
            neye karar ver*
        """,
        "arabic": """
            قلت سابقا | قلت لي | قلت إن | كما ناقشنا | ناقشنا | تحدثنا عن | هل تتذكر | هل تذكر |
            تذكر عندما | أتذكر | أخبرتك | ذكرت لك | كما ذكرت | في المرة السابقة | سابقا | ماذا قررنا
        """,
        "hindi": """
            तुमने कहा था | आपने कहा था | हमने बात की थी | हमने चर्चा की | याद है | मैंने कहा था |
            मैंने बताया था | पिछली बार | पहले कहा
        """,
        "hebrew": "אמרת קודם | אמרת | כמו שדיברנו | דיברנו על | אתה זוכר | את זוכרת | אמרתי לך | בפעם הקודמת",
        "vietnamese": "bạn đã nói | như chúng ta đã | chúng ta đã nói | bạn có nhớ | tôi đã nói | lần trước",
        "indonesian": """
            tadi kamu bilang | kamu bilang | seperti yang kita bahas | kita bahas | ingat waktu |
            apakah kamu ingat | aku bilang | terakhir kali | sebelumnya
        """,
        ANYWHERE: """
            你之前说 | 你刚才说 | 你说过 | 之前说 | 刚才说 | 我们讨论过 | 我们谈过 | 我们说过 | 之前讨论 |
            还记得 | 還記得 | 记得吗 | 我说过 | 我提到 | 上次 | 之前提到 | 我告诉过你 | 先ほど | さっき |
            前に言 | 以前言 | 話し合った | 話した | 覚えて | 言ったよね | 言いました | 前回 | 아까 | 말했 |
            말씀하셨 | 얘기했 | 논의했 | 기억나 | 기억하 | 지난번 | 이전에 | ที่คุณบอก | ที่คุยกัน |
            จำได้ไหม | คราวที่แล้ว
        """,
    }
)
