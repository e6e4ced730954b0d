"""What decisions, their reversal, tasks, settled matters and personal facts sound like: tables of `domain.text.cues`."""

from chalicelib.domain.text.cues import ANYWHERE, Cues, word_set

DECIDED = Cues(
    {
        "english": """
            decided | we decide | i decide | decision is | decision: | agreed to | agreed on | agreed that |
            we agree | we will use | we'll use | we will go with | we'll go with | let's go with |
            let's use | we're going with | we are going with | settled on | we chose | i chose | we picked |
            i picked | opted for | made up my mind | final answer | we're sticking with | let's stick with |
            we are switching to | we're switching to | we switch to
        """,
        "german": """
            entschieden | beschlossen | entscheidung | entscheiden uns | entscheide mich | wir nehmen |
            ich nehme | wir nutzen | wir verwenden | wir bleiben bei | einigen uns | geeinigt |
            machen wir so | steigen um
        """,
        "french": """
            décidé | décidons | décision | on a choisi | nous avons choisi | nous choisissons |
            j'ai choisi | on part sur | nous utiliserons | on utilisera | d'accord pour | convenu
        """,
        "spanish": """
            decidido | decidimos | decidí | decisión | hemos elegido | elegimos | elegí | usaremos |
            vamos a usar | nos quedamos con | acordamos | acordado
        """,
        "italian": """
            deciso | decidiamo | decisione | abbiamo scelto | scegliamo | ho scelto | useremo | concordato
        """,
        "portuguese": """
            decidido | decidimos | decidi | decisão | escolhemos | escolhi | vamos usar | usaremos |
            combinamos
        """,
        "dutch": """
            besloten | beslist | besluit | gekozen voor | we kiezen | we gebruiken | afgesproken |
            we gaan voor
        """,
        "swedish": "bestämt | bestämde | beslutat | beslut | vi väljer | vi använder | valde | överens om",
        "russian": """
            решил* | решено | решаем | решение | выбрал* | выбираем | договорил* | остановил* на |
            будем использовать
        """,
        "turkish": """
            karar verdi* | karar ver* | kararlaştır* | karar: | seçtik | seçtim | kullanacağız | anlaştık
        """,
        "arabic": "قررنا | قررت | قرر | القرار | اخترنا | اخترت | اتفقنا | سنستخدم | نعتمد | وقررنا",
        "hindi": "फैसला किया | तय किया | निर्णय | चुना है | फ़ैसला किया | इस्तेमाल करेंगे",
        "hebrew": "החלטנו | החלטתי | בחרנו | בחרתי | הסכמנו",
        "greek": "αποφασίσαμε | αποφάσισα | επιλέξαμε | συμφωνήσαμε",
        ANYWHERE: """
            决定 | 決定 | 决議 | 就用 | 选择了 | 選擇了 | 选定 | 同意用 | 改用 | 敲定 | 決め |
            にすることに | 選びま | 採用する | 결정 | 정했 | 선택했 | 하기로 했 | 하기로 합 | 쓰기로 |
            ตัดสินใจ | ตกลงว่า | ตกลงใช้
        """,
    }
)

REVERSED = Cues(
    {
        "english": """
            instead | instead of | no longer | changed my mind | changed our mind* | on second thought |
            actually | reverse* | not anymore | any more | rather than | scrap | cancel* | we won't |
            switch* | revert* | drop the | forget about | never mind | moved the | moved it to | postpone* |
            overrule*
        """,
        "german": """
            doch nicht | stattdessen | statt | anstatt | doch lieber | nicht mehr | umentschieden |
            anders überlegt | abgesagt | verworfen | doch | verschoben | zurückgenommen
        """,
        "french": """
            plutôt | à la place | au lieu | finalement | ne plus | changé d'avis | annulé | en fait |
            n'est plus
        """,
        "spanish": """
            en vez de | en lugar de | mejor | ya no | cambi* de opinión | cancelado | finalmente | al final
        """,
        "italian": "invece | al posto di | non più | cambiato idea | annullato | alla fine | anzi",
        "portuguese": """
            em vez de | em lugar de | já não | não mais | mud* de ideia | cancelado | afinal | na verdade
        """,
        "dutch": "in plaats van | toch | niet meer | van gedachten veranderd | geannuleerd | liever",
        "swedish": "istället | i stället | ändrat | inte längre | ångrat | hellre",
        "russian": """
            вместо | передумал* | больше не | всё-таки | все-таки | отменил* | отмена | лучше |
            на самом деле
        """,
        "turkish": "yerine | vazgeç* | artık | fikrimi değiştir* | iptal | aslında",
        "arabic": "بدلا | بدلًا | بدل | غيرنا | غيرت | تراجعنا | لم نعد | ألغينا | لن نستخدم",
        "hindi": "के बजाय | की जगह | अब नहीं | बदल दिया | रद्द",
        ANYWHERE: """
            改用 | 改成 | 改为 | 改為 | 而不是 | 不再 | 取消 | 还是 | 還是 | 代わりに | やめ | 変更 | 대신 |
            바꾸 | 바꿨 | 취소 | 변경 | แทน | ยกเลิก | เปลี่ยน
        """,
    }
)

TASK = Cues(
    {
        "english": """
            todo | to do: | to-do | action item | i need to | we need to | you need to | needs to be |
            i have to | we have to | we must | i must | remind me to | remind me about | don't forget |
            remember to | i will send | i'll send | i will call | i'll call | i'll write | i will write |
            i'll book | i will book | i'll prepare | i will prepare | i'll fix | please send | please book |
            please remind | follow up | by tomorrow | next step | still open | is pending
        """,
        "german": """
            muss noch | müssen noch | muss | müssen | erinnere mich | nicht vergessen | aufgabe |
            bitte schick* | ich werde | noch offen | nächster schritt | bis morgen | zu erledigen
        """,
        "french": """
            il faut | je dois | nous devons | rappelle-moi | n'oublie pas | à faire | prochaine étape |
            je vais envoyer
        """,
        "spanish": """
            tengo que | tenemos que | hay que | recuérdame | no olvid* | pendiente | próximo paso | debo |
            debemos
        """,
        "italian": "devo | dobbiamo | bisogna | ricordami | non dimenticare | da fare | prossimo passo",
        "portuguese": """
            preciso | precisamos | tenho que | temos que | lembra-me | não esqueç* | pendente |
            próximo passo
        """,
        "dutch": "moet nog | moeten nog | moeten we | herinner me | niet vergeten | nog te doen | volgende stap",
        "swedish": "måste | påminn mig | glöm inte | att göra | nästa steg",
        "russian": "нужно | надо | необходимо | напомни* | не забы* | должен | должна | должны | следующий шаг",
        "turkish": "lazım | gerekiyor | gerek | hatırlat* | unutma* | yapılacak",
        "arabic": "يجب | ذكرني | لا تنس | علينا أن | علي أن | المطلوب | مهمة",
        "hindi": "करना है | याद दिला* | भूलना मत | ज़रूरी है",
        ANYWHERE: """
            需要 | 必须 | 必須 | 提醒我 | 别忘 | 別忘 | 记得 | 記得 | 待办 | しなければ | 忘れない |
            する必要 | やること | リマインド | 해야 | 잊지 마 | 알려줘 | 할 일 | ต้อง | อย่าลืม | เตือน
        """,
    }
)

SETTLED = Cues(
    {
        "english": """
            done | fixed | solved | resolved | that works | it works | works now | working now | finished |
            completed | all set | sorted out | that's sorted | problem is gone | issue is gone | closed |
            shipped | merged
        """,
        "german": """
            erledigt | gelöst | behoben | fertig | funktioniert jetzt | das funktioniert | geklappt |
            abgeschlossen
        """,
        "french": "réglé | résolu | corrigé | terminé | ça marche | ça fonctionne | c'est fait | fini",
        "spanish": "hecho | resuelto | arreglado | solucionado | terminado | ya funciona | listo | funciona",
        "italian": "fatto | risolto | sistemato | finito | funziona | completato",
        "portuguese": "feito | resolvido | corrigido | terminado | já funciona | funciona | pronto | concluído",
        "dutch": "klaar | opgelost | gefixt | afgerond | het werkt | dat werkt | gelukt",
        "swedish": "klart | löst | fixat | färdig* | det fungerar | avklarat",
        "russian": """
            готово | решена | исправлено | исправил* | сделано | сделал* | работает | закончил* | заработало
        """,
        "turkish": "tamam | bitti | çözüldü | halloldu | çalışıyor | düzeldi | tamamlandı",
        "arabic": "تم | انتهى | انتهينا | حللنا | تم الحل | يعمل الآن | اكتمل | نجح",
        "hindi": "हो गया | ठीक हो गया | पूरा हुआ | काम कर रहा है",
        ANYWHERE: """
            搞定 | 解决了 | 解決了 | 完成了 | 修好了 | 好了 | 已完成 | 解決しま | 直りま | できまし |
            終わりまし | 動きまし | 해결 | 완료 | 끝났 | 됐어 | 고쳤 | เสร็จแล้ว | แก้แล้ว | ใช้ได้แล้ว
        """,
    }
)
NOT_SETTLED = Cues(
    {
        "english": """
            not | n't | isn't | doesn't | never | until | once | when | if | yet | almost | to be |
            should be | get it
        """,
        "german": "nicht | noch | wenn | bis | sobald | fast",
        "french": "pas | quand | si | jusqu'à | presque",
        "spanish": "no | cuando | si | hasta | casi",
        "italian": "non | quando | se | finché | quasi",
        "portuguese": "não | quando | se | até | quase",
        "dutch": "niet | nog | als | tot | bijna",
        "russian": "не | когда | если | пока | почти",
        "turkish": "değil | henüz | eğer",
        "arabic": "لم | لا | ليس | إذا | عندما",
        ANYWHERE: "没 | 沒 | 不 | 未 | 如果 | ない | ません | もし | 안 | 아직 | ไม่ | ยัง",
    }
)

PERSONAL = Cues(
    {
        "english": """
            my name | call me | i live | i work | i'm from | i am from | i was born | born in | i moved |
            i study | i studied | i'm allergic | allergic to | i'm a | i am a | i'm an | i am an |
            i have a | i have two | i have three | i've been | my wife | my husband | my daughter | my son |
            my kids | my dog | my cat | my mother | my father | my sister | my brother | my birthday |
            my job | my phone | my email | my address | i own | i prefer | i speak | my favorite |
            my favourite | i graduated | i married | we married | i adopted | i bought | i started |
            is called | is named
        """,
        "german": """
            ich heiße | mein name | ich wohne | ich lebe | ich arbeite | ich komme aus | geboren | ich bin |
            ich habe | meine frau | mein mann | meine tochter | mein sohn | mein hund | meine katze |
            mein geburtstag | allergisch | meine telefonnummer | meine adresse | ich bevorzuge | heißt
        """,
        "french": """
            je m'appelle | mon nom | j'habite | je vis | je travaille | je viens de | né à | née à |
            je suis | j'ai | ma femme | mon mari | ma fille | mon fils | mon chien | allergique |
            mon anniversaire | s'appelle
        """,
        "spanish": """
            me llamo | mi nombre | vivo en | trabajo | soy de | nací | soy | tengo | mi esposa | mi esposo |
            mi hija | mi hijo | mi perro | alérgic* | mi cumpleaños | se llama
        """,
        "italian": """
            mi chiamo | vivo a | abito | lavoro | sono di | sono nato | sono nata | sono | ho | mia figlia |
            allergic* | si chiama
        """,
        "portuguese": """
            me chamo | meu nome | moro | trabalho | sou de | nasci | sou | tenho | minha filha | meu filho |
            alérgic*
        """,
        "dutch": """
            ik heet | mijn naam | ik woon | ik werk | ik kom uit | geboren | ik ben | ik heb |
            mijn dochter | allergisch | heet
        """,
        "swedish": """
            jag heter | mitt namn | jag bor | jag arbetar | jag jobbar | född | jag är | jag har |
            allergisk | heter
        """,
        "russian": """
            меня зовут | я живу | я работаю | я из | родил* | у меня | моя жена | мой муж | моя дочь |
            мой сын | зовут | аллергия
        """,
        "turkish": "benim adım | adım | yaşıyorum | çalışıyorum | doğdum | kızım | oğlum | alerji*",
        "arabic": """
            اسمي | أعيش | أسكن | أعمل | أنا من | ولدت | أنا | لدي | عندي | زوجتي | زوجي | ابنتي | ابني |
            حساسية
        """,
        "hindi": """
            मेरा नाम | रहता हूँ | रहती हूँ | काम करता हूँ | काम करती हूँ | मेरे पास | मेरी बेटी | मेरा बेटा
        """,
        "hebrew": "שמי | קוראים לי | אני גר | אני גרה | אני עובד | אני עובדת | נולדתי | יש לי",
        "greek": "με λένε | μένω | δουλεύω | είμαι | έχω | γεννήθηκα",
        ANYWHERE: """
            我叫 | 我的名字 | 我住 | 我在 | 我是 | 我有 | 我女儿 | 我女兒 | 我儿子 | 我妻子 | 我老公 |
            我来自 | 我來自 | 过敏 | 過敏 | 我的生日 | 我的电话 | 私の名前 | と申します | といいます |
            に住んで | で働いて | 出身 | アレルギー | 私は | 제 이름 | 내 이름 | 살고 있 | 살아요 |
            일하고 있 | 일해요 | 알레르기 | 저는 | 나는 | ฉันชื่อ | ผมชื่อ | อาศัยอยู่ | ทำงานที่ | แพ้
        """,
    }
)

RELATIVE_TIME = Cues(
    {
        "english": """
            yesterday | today | tonight | tomorrow | last night | last week | last month | last year |
            last weekend | next week | next month | next year | this week | this weekend | this month |
            this morning | ago | last monday | last tuesday | last wednesday | last thursday | last friday |
            last saturday | last sunday | next monday | next friday | recently
        """,
        "german": """
            gestern | heute | morgen | vorgestern | übermorgen | letzte woche | letzten monat |
            letztes jahr | nächste woche | vor kurzem
        """,
        "french": """
            hier | aujourd'hui | demain | la semaine dernière | le mois dernier | l'année dernière |
            la semaine prochaine
        """,
        "spanish": """
            ayer | hoy | mañana | anoche | la semana pasada | el mes pasado | el año pasado |
            la próxima semana
        """,
        "italian": """
            ieri | oggi | domani | la settimana scorsa | il mese scorso | l'anno scorso |
            la prossima settimana
        """,
        "portuguese": "ontem | hoje | amanhã | semana passada | mês passado | ano passado | próxima semana",
        "dutch": "gisteren | vandaag | morgen | vorige week | vorige maand | vorig jaar | volgende week",
        "swedish": "igår | idag | imorgon | förra veckan | förra året | nästa vecka",
        "russian": "вчера | сегодня | завтра | на прошлой неделе | в прошлом году | на следующей неделе",
        "turkish": "dün | bugün | yarın | geçen hafta | geçen yıl | gelecek hafta",
        "arabic": "أمس | اليوم | غدا | غدًا | الأسبوع الماضي | الشهر الماضي | العام الماضي | الأسبوع القادم",
        "hindi": "कल | आज | पिछले हफ्ते | पिछले साल | अगले हफ्ते",
        ANYWHERE: """
            昨天 | 今天 | 明天 | 上周 | 上週 | 下周 | 下週 | 上个月 | 去年 | 明年 | 昨日 | 今日 | 明日 |
            先週 | 来週 | 先月 | 어제 | 오늘 | 내일 | 지난주 | 다음 주 | 작년 | เมื่อวาน | วันนี้ | พรุ่งนี้
        """,
    }
)

FILLERS = word_set(
    """
    thanks thank wow great awesome hey hi hello yeah yep yes nope really cool nice sure glad amazing ok okay oh haha lol
    please sorry totally definitely absolutely gonna wanna kinda lot lots thing things stuff bit way got get gets getting
    super danke toll hallo genau klar bitte wirklich merci génial salut vraiment bonjour oui non gracias genial hola vale
    claro sí bueno grazie ciao davvero obrigado obrigada olá sim legal bedankt hoi leuk tack hej ja nej bra спасибо привет
    да хорошо здорово ладно teşekkürler merhaba evet tamam شكرا مرحبا نعم حسنا धन्यवाद हाँ ठीक 谢谢 好的 你好 ありがとう 감사
    """
)
"""What keeps a conversation going and says nothing, folded."""

NEGATIONS = word_set(
    """
    no not never none nobody nothing without don't didn't doesn't isn't wasn't won't can't couldn't shouldn't wouldn't
    aren't haven't hasn't nicht kein keine keinen nie ohne pas jamais sans sin nunca mai senza não sem niet geen nooit
    zonder inte aldrig utan не нет никогда без değil yok لا لم لن ليس بدون
    """
)
"""Function words that a shortened sentence keeps, or it would say the opposite."""
