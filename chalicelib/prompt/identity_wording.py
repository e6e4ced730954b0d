"""How users ask who the assistant is and what it is like, by language: a table of `domain.text.cues`."""

from chalicelib.domain.text.cues import ANYWHERE, Cues

ASKS_IDENTITY = Cues(
    {
        "english": """
            who are you | what are you | what's your name | what is your name | your name | about yourself |
            introduce yourself | describe yourself | your personality | your character | your values |
            your beliefs | your mood | how do you feel | how are you feeling | are you human |
            are you a human | are you a bot | are you a robot | are you an ai | are you real |
            are you conscious | do you have feelings | do you have a soul | what do you believe |
            what do you value | what matters to you | who made you | who created you | who built you |
            what kind of assistant | your persona | your purpose | your story | your identity |
            what are you like | act like yourself
        """,
        "german": """
            wer bist du | wer sind sie | was bist du | wie heißt du | wie heißen sie | dein name |
            ihr name | erzähl von dir | stell dich vor | stellen sie sich vor | beschreibe dich |
            deine persönlichkeit | dein charakter | deine werte | deine stimmung | wie fühlst du dich |
            bist du ein mensch | bist du ein bot | bist du ein roboter | bist du eine ki | hast du gefühle |
            woran glaubst du | wer hat dich gemacht | wer hat dich erschaffen | was ist dir wichtig
        """,
        "french": """
            qui es-tu | qui êtes-vous | tu es qui | comment tu t'appelles | comment t'appelles-tu |
            comment vous appelez-vous | ton nom | votre nom | présente-toi | présentez-vous |
            parle-moi de toi | ta personnalité | votre personnalité | ton caractère | tes valeurs |
            vos valeurs | ton humeur | es-tu humain | es-tu un robot | es-tu une ia | as-tu des sentiments |
            qui t'a créé | en quoi crois-tu
        """,
        "spanish": """
            quién eres | quién es usted | qué eres | cómo te llamas | cómo se llama usted | tu nombre |
            háblame de ti | preséntate | descríbete | tu personalidad | tu carácter | tus valores |
            tu estado de ánimo | eres humano | eres un robot | eres una ia | tienes sentimientos |
            quién te creó | en qué crees
        """,
        "italian": """
            chi sei | chi è lei | cosa sei | come ti chiami | come si chiama | il tuo nome | parlami di te |
            presentati | descriviti | la tua personalità | il tuo carattere | i tuoi valori | il tuo umore |
            sei umano | sei un robot | sei un'ia | hai sentimenti | chi ti ha creato | in cosa credi
        """,
        "portuguese": """
            quem é você | quem és tu | quem és | o que você é | qual é o seu nome | como você se chama |
            como te chamas | fale sobre você | apresente-se | sua personalidade | seu caráter |
            seus valores | seu humor | você é humano | você é um robô | você tem sentimentos |
            quem te criou | em que você acredita
        """,
        "dutch": """
            wie ben je | wie ben jij | wie bent u | wat ben je | hoe heet je | hoe heet jij | je naam |
            stel je voor | vertel over jezelf | je persoonlijkheid | jouw persoonlijkheid | je karakter |
            je waarden | ben je een mens | ben je een robot | heb je gevoelens | wie heeft je gemaakt
        """,
        "swedish": """
            vem är du | vad är du | vad heter du | ditt namn | berätta om dig | presentera dig |
            din personlighet | din karaktär | dina värderingar | är du människa | är du en robot |
            har du känslor | vem skapade dig
        """,
        "polish": """
            kim jesteś | jak się nazywasz | jak masz na imię | twoje imię | opowiedz o sobie |
            twoja osobowość | twoje wartości | jesteś człowiekiem | jesteś robotem | kto cię stworzył
        """,
        "russian": """
            кто ты | кто вы | как тебя зовут | как вас зовут | твоё имя | твое имя | ваше имя |
            расскажи о себе | расскажите о себе | представься | опиши себя | твоя личность | твой характер |
            твои ценности | твоё настроение | ты человек | ты робот | ты бот | у тебя есть чувства |
            кто тебя создал | во что ты веришь | что для тебя важно
        """,
        "turkish": """
            sen kimsin | kimsin | siz kimsiniz | adın ne | adınız ne | ismin ne | kendini tanıt |
            kendinden bahset | kişiliğin | karakterin | değerlerin | insan mısın | robot musun |
            duyguların var mı | seni kim yarattı | seni kim yaptı
        """,
        "arabic": """
            من أنت | من انت | ما اسمك | ما هو اسمك | عرف نفسك | عرفني بنفسك | حدثني عن نفسك |
            أخبرني عن نفسك | شخصيتك | قيمك | مزاجك | هل أنت إنسان | هل أنت روبوت | هل لديك مشاعر | من صنعك |
            من خلقك | بماذا تؤمن
        """,
        "hindi": """
            तुम कौन हो | आप कौन हैं | आप कौन हो | तुम्हारा नाम | आपका नाम | अपने बारे में | अपना परिचय |
            तुम्हारा स्वभाव | आपका व्यक्तित्व | तुम्हारा व्यक्तित्व | क्या तुम इंसान हो |
            क्या आप इंसान हैं | किसने बनाया
        """,
        "hebrew": """
            מי אתה | מי את | מה שמך | איך קוראים לך | ספר על עצמך | ספרי על עצמך | האישיות שלך |
            הערכים שלך | אתה בן אדם | אתה רובוט | מי יצר אותך
        """,
        "vietnamese": """
            bạn là ai | tên bạn là gì | bạn tên gì | giới thiệu về bạn | giới thiệu bản thân |
            tính cách của bạn | bạn là người | bạn có cảm xúc | ai tạo ra bạn
        """,
        "indonesian": """
            siapa kamu | siapa anda | kamu siapa | nama kamu | namamu | nama anda |
            ceritakan tentang dirimu | perkenalkan dirimu | kepribadianmu | apakah kamu manusia |
            apakah kamu robot | siapa yang membuatmu
        """,
        ANYWHERE: """
            你是谁 | 你是誰 | 您是谁 | 你叫什么 | 你叫什麼 | 你的名字 | 介绍一下你自己 | 自我介绍 |
            自我介紹 | 介紹一下你自己 | 你的性格 | 你的个性 | 你的價值觀 | 你的价值观 | 你是人吗 |
            你是机器人 | 你是機器人 | 你有感情 | 你有感觉 | 谁创造了你 | 谁制造了你 | あなたは誰 |
            あなたはだれ | 君は誰 | お名前は | あなたの名前 | 自己紹介 | あなたの性格 | あなたの価値観 |
            あなたは人間 | あなたはロボット | 感情はあ | 誰が作 | 누구세요 | 누구야 | 넌 누구 | 너는 누구 |
            당신은 누구 | 이름이 뭐 | 이름은 뭐 | 자기소개 | 성격이 어때 | 네 성격 | 당신의 성격 |
            사람이야 | 로봇이야 | 감정이 있 | 누가 만들 | คุณเป็นใคร | คุณคือใคร | คุณชื่ออะไร | แนะนำตัว |
            นิสัยของคุณ | คุณเป็นคนหรือ | คุณเป็นหุ่นยนต์
        """,
    }
)
