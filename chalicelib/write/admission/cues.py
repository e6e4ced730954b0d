"""Cue words by language, as data: persons, times, doubts, courtesies, corrections. Phrases are separated by bars.

Each list only leans on a score that stands without it: a language that is not here is judged by length, rarity, digits,
names, questions and what was said before. `ANYWHERE` is for scripts without spaces, whose cues are looked for anywhere in
the text.
"""

ANYWHERE = "anywhere"

FIRST_PERSON = {
    "english": """
        i | i'm | i've | i'd | i'll | im | me | my | mine | myself | we | we're | we've | we'll | us | our |
        ours
    """,
    "german": "ich | mich | mir | mein | meine | meinen | meinem | meiner | wir | uns | unser | unsere | unseren",
    "french": "je | j'ai | j'aime | j'étais | j'habite | moi | mon | ma | mes | nous | notre | nos",
    "spanish": """
        yo | mi | mis | mí | conmigo | nosotros | nosotras | nuestro | nuestra | tengo | soy | estoy | vivo |
        trabajo
    """,
    "italian": "io | mio | mia | miei | mie | noi | nostro | nostra | ho | sono | abbiamo",
    "portuguese": "eu | meu | minha | meus | minhas | nós | nosso | nossa | comigo | tenho | sou | estou | moro",
    "dutch": "ik | mij | mijn | wij | ons | onze",
    "swedish": "jag | mig | min | mitt | mina | vi | oss | vår | vårt | våra",
    "russian": "я | меня | мне | мой | моя | моё | мои | моей | моего | мы | нас | нам | наш | наша | наши",
    "turkish": "ben | benim | beni | bana | biz | bizim | bize",
    "arabic": "أنا | نحن | لدي | عندي",
    "hindi": "मैं | मेरा | मेरी | मेरे | मुझे | हम | हमारा | हमारे",
    "korean": "나는 | 내가 | 제가 | 저는 | 나의 | 내 | 제 | 우리 | 우리는",
    ANYWHERE: "我 | 咱 | 私 | 僕 | 俺 | ผม | ฉัน | เรา",
}

SECOND_PERSON = {
    "english": "you | you're | you've | you'll | you'd | your | yours | u | ur | yourself",
    "german": "du | dich | dir | dein | deine | deinen | euch | euer | ihnen",
    "french": "tu | toi | ton | ta | tes | vous | votre | vos",
    "spanish": "tú | ti | tu | tus | contigo | usted | ustedes | vosotros",
    "italian": "tu | tuo | tua | tuoi | tue | voi | vostro | vostra",
    "portuguese": "você | vocês | teu | tua | teus | tuas | contigo",
    "dutch": "jij | je | jou | jouw | jullie",
    "swedish": "du | dig | din | ditt | dina | ni | er",
    "russian": "ты | тебя | тебе | твой | твоя | твои | вы | вас | вам | ваш | ваша",
    "turkish": "sen | senin | seni | sana | siz | sizin | size",
    "arabic": "أنت | أنتم | لديك | عندك",
    "hindi": "तुम | तुम्हारा | तुम्हारे | आप | आपका | आपके | आपको",
    "korean": "너는 | 네가 | 당신 | 너의 | 당신의",
    ANYWHERE: "你 | 您 | あなた | 君 | คุณ",
}

TIMES = {
    "english": """
        yesterday | today | tonight | tomorrow | day | days | week | weeks | weekend | month | months | year |
        years | ago | last | next | recently | since | monday | tuesday | wednesday | thursday | friday |
        saturday | sunday | january | february | march | april | june | july | august | september | october |
        november | december | spring | summer | autumn | winter
    """,
    "german": """
        gestern | heute | morgen | übermorgen | vorgestern | tag | tage | tagen | woche | wochen | wochenende |
        monat | monate | jahr | jahre | jahren | seit | letzte | letzten | letztes | nächste | nächsten |
        nächstes | montag | dienstag | mittwoch | donnerstag | freitag | samstag | sonntag | januar | februar |
        märz | mai | juni | juli | oktober | dezember | frühling | sommer | herbst
    """,
    "french": """
        hier | aujourd'hui | demain | jour | jours | semaine | semaines | mois | an | ans | année | années |
        depuis | dernier | dernière | prochain | prochaine | lundi | mardi | mercredi | jeudi | vendredi |
        samedi | dimanche | janvier | février | mars | avril | juin | juillet | août | septembre | octobre |
        novembre | décembre | printemps | été | automne | hiver
    """,
    "spanish": """
        ayer | hoy | mañana | día | días | semana | semanas | mes | meses | año | años | desde | hace | pasado |
        pasada | próximo | próxima | lunes | martes | miércoles | jueves | viernes | sábado | domingo | enero |
        febrero | marzo | abril | mayo | junio | julio | agosto | septiembre | octubre | noviembre | diciembre |
        primavera | verano | otoño | invierno
    """,
    "italian": """
        ieri | oggi | domani | giorno | giorni | settimana | settimane | mese | mesi | anno | anni | scorso |
        scorsa | prossimo | prossima | lunedì | martedì | mercoledì | giovedì | venerdì | sabato | domenica |
        gennaio | febbraio | aprile | maggio | giugno | luglio | settembre | ottobre | dicembre
    """,
    "portuguese": """
        ontem | hoje | amanhã | dia | dias | mês | ano | anos | passado | passada | próximo | próxima |
        segunda-feira | terça-feira | quarta-feira | quinta-feira | sexta-feira | janeiro | fevereiro | março |
        maio | junho | julho | setembro | outubro | novembro | dezembro | verão | inverno
    """,
    "dutch": """
        gisteren | vandaag | dag | dagen | week | weken | maand | maanden | jaar | geleden | vorige | vorig |
        volgende | volgend | maandag | dinsdag | woensdag | donderdag | vrijdag | zaterdag | zondag | januari |
        februari | maart | juni | juli | augustus | oktober
    """,
    "swedish": """
        igår | idag | imorgon | dag | dagar | vecka | veckor | månad | månader | år | sedan | förra | nästa |
        måndag | tisdag | onsdag | torsdag | fredag | lördag | söndag | januari | februari | mars | maj | juni |
        juli | augusti | oktober
    """,
    "russian": """
        вчера | сегодня | завтра | день | дня | дней | неделя | неделю | недели | недель | месяц | месяца |
        месяцев | год | года | лет | назад | прошлый | прошлой | прошлом | следующий | следующей | следующем |
        понедельник | вторник | среду | четверг | пятницу | субботу | воскресенье | января | февраля | марта |
        апреля | мая | июня | июля | августа | сентября | октября | ноября | декабря | весной | летом | осенью |
        зимой
    """,
    "turkish": """
        dün | bugün | yarın | gün | hafta | ay | yıl | önce | geçen | gelecek | pazartesi | salı | çarşamba |
        perşembe | cuma | cumartesi | pazar | ocak | şubat | mart | nisan | mayıs | haziran | temmuz | ağustos |
        eylül | ekim | kasım | aralık
    """,
    "arabic": """
        أمس | اليوم | غدا | غدًا | يوم | أيام | أسبوع | الأسبوع | شهر | الشهر | سنة | سنوات | عام | أعوام |
        الماضي | الماضية | القادم | القادمة | منذ
    """,
    "hindi": """
        कल | आज | परसों | दिन | सप्ताह | हफ्ते | महीने | साल | पिछले | अगले | सोमवार | मंगलवार | बुधवार |
        गुरुवार | शुक्रवार | शनिवार | रविवार
    """,
    "korean": "어제 | 오늘 | 내일 | 지난 | 다음 | 작년 | 올해 | 내년 | 주말 | 전에",
    ANYWHERE: """
        昨天 | 今天 | 明天 | 昨日 | 今日 | 明日 | 去年 | 今年 | 明年 | 来年 | 上周 | 下周 | 先週 | 来週 |
        上个月 | 下个月 | 先月 | 来月 | 星期 | 曜日 | 周末 | 週末 | เมื่อวาน | วันนี้ | พรุ่งนี้ | ปีที่แล้ว
    """,
}

HEDGES = {
    "english": """
        maybe | perhaps | possibly | probably | might | guess | suppose | apparently | allegedly | rumour |
        rumor | unsure | not sure | i think | seems
    """,
    "german": "vielleicht | möglicherweise | wahrscheinlich | vermutlich | angeblich | glaube | unsicher | könnte",
    "french": "peut-être | probablement | apparemment | semble | pas sûr | pas sûre | je crois | je pense",
    "spanish": """
        quizás | quizá | tal vez | probablemente | parece | creo | supongo | no estoy seguro | no estoy segura
    """,
    "italian": "forse | probabilmente | magari | sembra | credo | suppongo | non sono sicuro | non sono sicura",
    "portuguese": "talvez | provavelmente | parece | acho | suponho | não tenho certeza",
    "dutch": "misschien | waarschijnlijk | mogelijk | blijkbaar | denk",
    "swedish": "kanske | förmodligen | troligen | tydligen | tror",
    "russian": "может быть | наверное | возможно | вероятно | кажется | похоже | думаю | не уверен | не уверена",
    "turkish": "belki | galiba | sanırım | muhtemelen | herhalde",
    "arabic": "ربما | لعل | أظن | أعتقد | يبدو",
    "hindi": "शायद | संभवतः | लगता",
    "korean": "아마 | 아마도 | 어쩌면 | 글쎄",
    ANYWHERE: "也许 | 可能 | 大概 | 好像 | 或许 | たぶん | 多分 | かもしれ | でしょう | らしい | อาจจะ | บางที",
}

COURTESIES = {
    "english": """
        hi | hello | hey | heya | hiya | yo | howdy | good morning | good afternoon | good evening |
        good night | bye | goodbye | see you | see ya | later | take care | thanks | thank you | thank u | thx |
        ty | cheers | much appreciated | welcome | no problem | no worries | ok | okay | okey | k | kk | yes |
        yeah | yep | yup | no | nope | sure | fine | great | cool | nice | awesome | perfect | wow | lol |
        haha | hahaha | sounds good | got it | alright | all right | please | sorry | how are you |
        so much | very much | a lot | there | everyone | everybody
    """,
    "german": """
        hallo | hi | moin | servus | guten morgen | guten tag | guten abend | gute nacht | tschüss | tschüs |
        auf wiedersehen | bis später | bis bald | danke | dankeschön | vielen dank | bitte | gern | gerne | ja |
        nein | genau | klar | alles klar | in ordnung | okay | super | toll | prima | wie geht's | dir | euch | ihnen | schön
    """,
    "french": """
        bonjour | bonsoir | salut | coucou | bonne nuit | au revoir | à bientôt | à plus | merci |
        merci beaucoup | de rien | oui | non | d'accord | ça va | super | génial | parfait | s'il te plaît |
        s'il vous plaît
    """,
    "spanish": """
        hola | buenos días | buenas tardes | buenas noches | buenas | adiós | hasta luego | hasta pronto |
        chao | gracias | muchas gracias | de nada | sí | si | no | vale | claro | perfecto | genial |
        por favor | qué tal | cómo estás
    """,
    "italian": """
        ciao | buongiorno | buonasera | buonanotte | salve | arrivederci | a presto | grazie | grazie mille |
        prego | sì | no | va bene | certo | perfetto | come stai
    """,
    "portuguese": """
        olá | oi | bom dia | boa tarde | boa noite | tchau | adeus | até logo | até mais | obrigado | obrigada |
        muito obrigado | muito obrigada | de nada | sim | não | tá | tá bom | certo | claro | beleza |
        tudo bem
    """,
    "dutch": """
        hallo | hoi | hé | goedemorgen | goedemiddag | goedenavond | goedenacht | doei | dag | tot ziens |
        bedankt | dank je | dank je wel | dank u | graag gedaan | ja | nee | oké | prima | hoe gaat het
    """,
    "swedish": """
        hej | hejsan | tjena | god morgon | god kväll | god natt | hej då | vi ses | tack | tack så mycket |
        varsågod | ja | nej | okej | bra | hur mår du
    """,
    "russian": """
        привет | здравствуй | здравствуйте | доброе утро | добрый день | добрый вечер | спокойной ночи | пока |
        до свидания | до встречи | спасибо | большое спасибо | пожалуйста | да | нет | ладно | хорошо | окей |
        ок | отлично | супер | понятно | как дела
    """,
    "turkish": """
        merhaba | selam | günaydın | iyi günler | iyi akşamlar | iyi geceler | hoşça kal | görüşürüz |
        teşekkürler | teşekkür ederim | sağ ol | rica ederim | evet | hayır | tamam | olur | süper | nasılsın
    """,
    "arabic": """
        مرحبا | مرحباً | أهلا | أهلاً | السلام عليكم | صباح الخير | مساء الخير | تصبح على خير | مع السلامة |
        وداعا | شكرا | شكراً | شكرا جزيلا | عفوا | نعم | لا | حسنا | حسناً | تمام | كيف حالك
    """,
    "hindi": """
        नमस्ते | नमस्कार | सुप्रभात | शुभ रात्रि | अलविदा | धन्यवाद | शुक्रिया | बहुत धन्यवाद | हाँ | हां |
        नहीं | ठीक है | ठीक | अच्छा | कैसे हो
    """,
    "korean": """
        안녕 | 안녕하세요 | 안녕히 가세요 | 안녕히 계세요 | 좋은 아침 | 잘 자 | 잘자요 | 고마워 | 고마워요 |
        감사합니다 | 네 | 예 | 응 | 아니 | 아니요 | 알겠습니다 | 알겠어 | 좋아 | 좋아요 | 반가워요 |
        반갑습니다
    """,
    "polish": """
        cześć | hej | dzień dobry | dobry wieczór | dobranoc | do widzenia | pa | dzięki | dziękuję | proszę |
        tak | nie | dobrze | ok | super | jak się masz
    """,
    "indonesian": """
        halo | hai | selamat pagi | selamat siang | selamat sore | selamat malam | sampai jumpa | terima kasih |
        makasih | sama-sama | ya | tidak | oke | baik | apa kabar
    """,
    "vietnamese": "xin chào | chào | chào bạn | tạm biệt | cảm ơn | cám ơn | vâng | dạ | không | được | tốt",
    "hebrew": """
        שלום | היי | בוקר טוב | ערב טוב | לילה טוב | להתראות | ביי | תודה | תודה רבה | בבקשה | כן | לא | בסדר |
        סבבה | מה שלומך
    """,
    "greek": """
        γεια | γεια σου | γεια σας | καλημέρα | καλησπέρα | καληνύχτα | αντίο | ευχαριστώ | παρακαλώ | ναι |
        όχι | εντάξει | ωραία | τι κάνεις
    """,
    ANYWHERE: """
        你好 | 您好 | 大家好 | 嗨 | 早上好 | 早安 | 晚上好 | 晚安 | 再见 | 拜拜 | 谢谢你 | 谢谢您 | 谢谢 |
        多谢 | 不客气 | 好的 | 好吧 | 好 | 是的 | 是 | 嗯 | 哈哈 | 没问题 | 你好吗 | 吗 | 了 | 啊 | 呀 | 的 |
        こんにちは | こんばんは | おはようございます | おはよう | おやすみなさい | おやすみ | さようなら |
        またね | ありがとうございます | ありがとうございました | ありがとう | どうも | どういたしまして | はい |
        いいえ | うん | わかりました | 了解です | 了解 | よろしくお願いします | よろしく | お願いします |
        すみません | 元気ですか | です | ね | よ | สวัสดีครับ | สวัสดีค่ะ | สวัสดี | ขอบคุณครับ | ขอบคุณค่ะ |
        ขอบคุณมาก | ขอบคุณ | ลาก่อน | โอเค | ครับ | ค่ะ | ใช่ | ไม่เป็นไร
    """,
}

CORRECTIONS = {
    "english": """
        correction | i meant | that's wrong | that is wrong | that's not right | that is not right |
        that's not correct | that is not correct | that's incorrect | that is incorrect | not anymore |
        i misspoke | i was wrong | you got that wrong | you are wrong | you're wrong | to correct
    """,
    "german": """
        korrektur | ich meinte | das stimmt nicht | das ist falsch | das war falsch | nicht richtig |
        ich habe mich geirrt | nicht mehr sondern
    """,
    "french": """
        correction | je voulais dire | c'est faux | ce n'est pas vrai | ce n'est pas correct | c'est incorrect |
        je me suis trompé | je me suis trompée
    """,
    "spanish": """
        corrección | quise decir | quería decir | eso no es correcto | eso es incorrecto | no es cierto |
        me equivoqué
    """,
    "italian": """
        correzione | volevo dire | intendevo | è sbagliato | non è corretto | non è vero | mi sono sbagliato |
        mi sono sbagliata
    """,
    "portuguese": """
        correção | quis dizer | queria dizer | está errado | isso está errado | não é verdade | não está certo |
        me enganei
    """,
    "dutch": "correctie | ik bedoelde | dat klopt niet | dat is fout | dat is onjuist | ik vergiste me",
    "swedish": "rättelse | jag menade | det stämmer inte | det är fel | jag hade fel",
    "russian": """
        исправление | поправка | я имел в виду | я имела в виду | это неверно | это неправда | это не так |
        я ошибся | я ошиблась
    """,
    "turkish": "düzeltme | demek istedim | bu yanlış | doğru değil | yanıldım",
    "arabic": "تصحيح | كنت أقصد | قصدت | هذا خطأ | هذا غير صحيح | هذا ليس صحيحا | أخطأت",
    "hindi": "सुधार | मेरा मतलब था | यह गलत है | यह सही नहीं है",
    "korean": "정정 | 정정합니다 | 제 말은 | 그게 아니라 | 틀렸어요 | 틀렸습니다 | 잘못 말했어요",
    ANYWHERE: """
        更正 | 纠正一下 | 我的意思是 | 我是说 | 说错了 | 那不对 | 这不对 | 訂正 | 間違いです | 間違えました |
        違います | ではなくて | じゃなくて | แก้ไข | ไม่ถูกต้อง
    """,
}

_ASSISTANTS = """
    assistant ai bot chatbot model system agent llm tool copilot
    assistent asistente assistente ассистент アシスタント 助手 助理
"""
ASSISTANTS = frozenset(_ASSISTANTS.split())
"""Names under which what an assistant says is stored."""
