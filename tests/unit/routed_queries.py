"""Queries with the route that a person would choose, in the order in which they were written down, before any code.

`TUNED` were looked at while the router was made, `HELD_OUT` only after it: nothing was changed for them. The labels follow
these rules: a greeting, thanks, an acknowledgement or a word or two is fast; one thing asked or said is standard; a
comparison, a choice between two, several names side by side, several questions, or a long text is deep.
"""

FAST, STANDARD, DEEP = "fast", "standard", "deep"
Labelled = tuple[str, str, str]

TUNED: tuple[Labelled, ...] = (
    ("en", "hi there!", FAST),
    ("en", "thanks a lot", FAST),
    ("en", "deploy schedule", FAST),
    ("en", "Where does Ana live?", STANDARD),
    ("en", "what did we decide about the retry policy last month", STANDARD),
    ("en", "Does Ana prefer tea or coffee?", DEEP),
    ("en", "What's the difference between our staging and production databases?", DEEP),
    ("en", "Where does Ana work and when did she start there?", DEEP),
    ("de", "Guten Morgen", FAST),
    ("de", "Wann ist die nächste Sitzung über das Budget im Büro?", STANDARD),
    ("de", "Wo wohnt Ana?", STANDARD),
    ("de", "Was ist besser für das Projekt, Postgres oder MongoDB?", DEEP),
    ("de", "Wer leitet das Projekt Apollo und wann wird es fertig?", DEEP),
    ("fr", "Salut !", FAST),
    ("fr", "Quelle est la couleur préférée de ma sœur ?", STANDARD),
    ("fr", "Qu'est-ce que Marie a dit au sujet du contrat ?", STANDARD),
    ("fr", "Quelle est la différence entre le contrat de Paul et celui de Marie ?", DEEP),
    ("fr", "Où habite Paul ? Et depuis quand travaille-t-il chez nous ?", DEEP),
    ("es", "¡Hola, buenos días!", FAST),
    ("es", "¿Cuándo es el cumpleaños de mi madre?", STANDARD),
    ("es", "qué restaurante nos gustó en Sevilla", STANDARD),
    ("es", "¿Qué opinan Carlos y Lucía del nuevo plan?", DEEP),
    ("es", "¿Dónde vive Lucía y en qué empresa trabaja?", DEEP),
    ("pt", "obrigado", FAST),
    ("pt", "Qual é a senha do wifi do escritório?", STANDARD),
    ("pt", "O plano anual é mais barato do que o mensal?", DEEP),
    ("zh", "你好", FAST),
    ("zh", "谢谢你", FAST),
    ("zh", "安娜住在哪里？", STANDARD),
    ("zh", "我们上个月关于部署时间做了什么决定", STANDARD),
    ("zh", "张伟和李娜谁负责这个项目？", DEEP),
    ("zh", "这两个方案有什么区别？", DEEP),
    ("ar", "السلام عليكم", FAST),
    ("ar", "أين تسكن سارة؟", STANDARD),
    ("ar", "متى موعد الاجتماع القادم مع العميل؟", STANDARD),
    ("ar", "ما الفرق بين الخطة القديمة والخطة الجديدة؟", DEEP),
    ("ru", "Привет!", FAST),
    ("ru", "Когда у Анны день рождения?", STANDARD),
    ("ru", "Что лучше для нас: Postgres или MongoDB?", DEEP),
    ("ru", "Где живёт Анна и кем она работает?", DEEP),
)

HELD_OUT: tuple[Labelled, ...] = (
    ("en", "ok, sounds good", FAST),
    ("en", "Which of Ben, Carla and Dmitri has worked longest on billing?", DEEP),
    ("en", "When is the dentist appointment I mentioned?", STANDARD),
    ("en", "Is the new laptop faster than the old one?", DEEP),
    ("de", "Danke dir", FAST),
    ("de", "Welche Allergien hat mein Sohn?", STANDARD),
    ("de", "Worin unterscheiden sich die beiden Verträge?", DEEP),
    ("fr", "merci beaucoup", FAST),
    ("fr", "Quand est-ce qu'on déploie en production ?", STANDARD),
    ("fr", "Est-ce que Julie préfère le train ou l'avion ?", DEEP),
    ("es", "¿A qué hora sale el tren de mañana?", STANDARD),
    ("es", "Compara el presupuesto de este año con el del año pasado", DEEP),
    ("pt", "Bom dia, tudo bem?", FAST),
    ("pt", "Quando a Ana começou a trabalhar e onde ela morava antes?", DEEP),
    ("zh", "我妹妹对什么食物过敏？", STANDARD),
    ("zh", "安娜喜欢茶还是咖啡？", DEEP),
    ("ar", "شكرا جزيلا", FAST),
    ("ar", "أين يعمل أحمد ومتى بدأ عمله؟", DEEP),
    ("ru", "какой пароль от тестового сервера", STANDARD),
    ("ru", "Сравни отзывы Ивана и Марии о новом офисе", DEEP),
)
