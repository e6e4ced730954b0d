# ruff: noqa: E501 - an expression is one line, however long
"""What prompt injection says in other languages than English, as data: see `injection_patterns` for what a pattern is.

A language has its orders to forget what was said before, to show the prompt, and to be another from now on. Expressions are
written as the language is; letters lose their accents on both sides before they are compared.
"""

from chalicelib.domain.text.injection_patterns import Kind, Pattern

_OVERRIDE, _REVEAL, _PERSONA, _ORDER = Kind.OVERRIDE, Kind.PROMPT_REVEAL, Kind.PERSONA_TAKEOVER, Kind.STANDING_ORDER
_SPOKEN: tuple[tuple[str, Kind, tuple[str, ...], str], ...] = (
    (
        "de", _OVERRIDE, ("ignorier", "missacht", "vergiss", "vergesst", "vergessen sie", "beacht", "verwirf", "verwerfe", "ueberschreib", "überschreib"),
        r"(?<! nie)(?<! nicht)(?<! niemals)(?<! ich)(?<! wir) (?:ignoriere?n?t?(?: sie)?|missachte[nt]?(?: sie)?|vergiss|vergesst|vergessen sie|verwirf|verwerfe[nt]?(?: sie)?|beachte[nt]?(?: sie)?|überschreibe?|ueberschreibe?)(?: (?:alle?[rs]?|bitte|jetzt|sofort|die|deine|ihre|eure|sämtliche|jegliche|nun|einfach|nicht|mehr|diese|system|sonstigen|und)){0,5} (?:vorherigen?|vorigen?|bisherigen?|obigen?|früheren?|vorangegangenen?|vorangehenden?|vorstehenden?|ursprünglichen?|bestehenden?|zuvor gegebenen|deine|ihre|eure)(?: \w+){0,2} (?:anweisung(?:en)?|instruktion(?:en)?|regeln?|vorgaben?|befehle?|richtlinien|prompts?|systemprompts?|anleitungen|einschränkungen|sicherheitsregeln|sicherheitsrichtlinien|programmierung)(?= )",
    ),
    ("de", _OVERRIDE, ("vergiss", "ignorier"), r"(?<! nie)(?<! nicht) (?:vergiss|ignoriere?) (?:alles|all das)(?: was)? (?:was dir|dir|davor|darüber|vorher|oben|oberhalb|bisher)(?: \w+){0,4} (?:gesagt|beigebracht|aufgetragen|befohlen|steht|wurde)(?= )"),
    ("de", _REVEAL, ("prompt", "anweisung", "instruktion", "systemprompt", "systemanweisung", "systemnachricht"), r" (?:zeige?|verrate?|nenne?|gib|sage?|wiederhole?|offenbare?|drucke?|schreibe?|wie lautet|was ist|was sind|wie lauten)(?: \w+){0,4} (?:deinen?|ihren?|deine|den|die) (?:\w+ )?(?:system ?prompts?|systemanweisungen?|systemnachricht|versteckten? anweisungen|geheimen? anweisungen|ursprünglichen? anweisungen|internen anweisungen|initialen? prompts?)(?= )"),
    ("de", _PERSONA, ("du bist", "sie sind", "ab jetzt", "von nun an", "ab sofort", "tu so", "verhalte", "agiere"), r" (?:du bist|sie sind|bist du|sind sie) (?:ab jetzt|jetzt|nun|ab sofort|von nun an|nicht mehr)(?: \w+){0,4} (?:ki|assistent|chatbot|dan|bot|modell|sprachmodell|einschränkungen|regeln|uneingeschränkt\w*|unzensiert\w*|hacker|pirat)(?= )| (?:ab jetzt|von nun an|ab sofort) (?:musst|wirst|sollst|antwortest|gehorchst|darfst|bist) du(?: \w+){0,5}(?= )| (?:tu so|verhalte dich|agiere)(?: \w+){0,6} (?:ohne|keine)(?: \w+){0,2} (?:regeln|einschränkungen|filter|beschränkungen|zensur)(?= )"),
    (
        "fr", _OVERRIDE, ("ignor", "oubli", "tenez pas", "tiens pas", "tenir compte", "suis pas", "néglige", "neglige", "contourne", "désobé", "desobe"),
        r"(?<! pas)(?<! jamais)(?<! n)(?<! il)(?<! je) (?:ignore[zsr]?|oublie[zsr]?|néglige[zr]?|contourne[zr]?|(?:ne )?(?:tiens|tenez|tenir) (?:pas|plus|aucun) ?compte (?:de|des)|(?:ne )?(?:suis|suivez) (?:pas|plus))(?: (?:toutes?|tous|les|des|tes|vos|ces|de|maintenant|donc|et|l|d|ensemble|chacune)){0,5}(?: \w+)? (?:instructions?|consignes?|directives?|règles|ordres|commandes|prompts?|invites?|restrictions|indications)(?: \w+){0,2} (?:précédente?s?|antérieure?s?|ci dessus|initiale?s?|données|reçues|au dessus|d avant|existantes?|système|de sécurité|auparavant|préalables)(?= )",
    ),
    ("fr", _OVERRIDE, ("ignor", "oubli"), r"(?<! pas)(?<! jamais) (?:ignore[zs]?|oublie[zs]?) (?:(?:toutes )?(?:tes|vos) (?:instructions|consignes|règles|directives|restrictions)|tout ce (?:qui|que|qu on)(?: \w+){0,4} (?:précède|avant|dessus|dit|appris|demandé))(?= )"),
    ("fr", _REVEAL, ("prompt", "instruction", "consigne", "invite"), r" (?:révèle[zr]?|montre[zr]?|affiche[zr]?|donne[zr]?|répète[zr]?|répéte[zr]?|dis|dites|divulgue[zr]?|imprime[zr]?|quelles? (?:est|sont)|quel est)(?: \w+){0,4} (?:ton|votre|tes|vos|ta|le|les|l) (?:\w+ )?(?:prompt(?: système| initial| caché)?|message système|invite système|instructions (?:système|initiales|cachées|secrètes|internes|d origine)|consignes (?:système|initiales|cachées|secrètes|internes))(?= )"),
    ("fr", _PERSONA, ("tu es", "vous êtes", "vous etes", "désormais", "desormais", "à partir de", "a partir de", "dorénavant", "dorenavant", "fais comme", "comporte"), r" (?:tu es|vous êtes) (?:désormais|maintenant|dorénavant|à présent|plus)(?: \w+){0,4} (?:ia|assistante?|chatbot|dan|modèle|robot|restrictions?|règles|filtres?|pirate|hacker)(?= )| (?:désormais|à partir de maintenant|dorénavant|à partir d aujourd hui) (?:tu (?:dois|vas|répondras|obéiras|obéis|réponds|es)|vous (?:devez|allez|répondrez|obéirez|êtes))(?: \w+){0,4}(?= )| (?:fais|faites|agis|agissez|comporte toi|comportez vous) comme(?: \w+){0,6} (?:sans|aucune?)(?: \w+)? (?:restrictions?|règles|filtres?|limites|censure)(?= )"),
    (
        "es", _OVERRIDE, ("ignor", "olvid", "descart", "omit", "hagas caso", "haga caso", "desobede", "sigas"),
        r"(?<! no)(?<! nunca)(?<! jamás)(?<! yo) (?:ignor(?:a|e|en|ad|ar)|olvid(?:a|e|en|ad|ar)|descart(?:a|e|ar)|omit(?:e|a|ir)|no (?:hagas caso (?:a|de)|haga caso (?:a|de)|sigas|siga|obedezcas))(?: (?:tod[oa]s?|las|los|tus|sus|estas|de|por|favor|ahora|y|cualquier|l|el|la)){0,5}(?: \w+)? (?:instrucci(?:ón|ones)|indicaciones|órdenes|reglas|directrices|directivas|prompts?|comandos|normas|restricciones|pautas)(?: \w+){0,2} (?:anterior(?:es)?|previ[oa]s?|de arriba|iniciales?|original(?:es)?|del sistema|precedentes?|recibid[oa]s|dad[oa]s|existentes|de seguridad)(?= )",
    ),
    ("es", _OVERRIDE, ("ignor", "olvid"), r"(?<! no)(?<! nunca) (?:ignor(?:a|e)|olvid(?:a|e)) (?:(?:todas )?(?:tus|sus) (?:instrucciones|reglas|directrices|restricciones|normas|previas instrucciones)|(?:todas )?(?:las )?(?:previas|anteriores) (?:instrucciones|reglas|órdenes|indicaciones)|todo lo (?:anterior|que (?:te|le|se|has|hay)(?: \w+){0,3} (?:dicho|enseñado|dijeron|arriba|antes|aprendido|ordenado)))(?= )"),
    ("es", _REVEAL, ("prompt", "instruccion", "instrucción", "mensaje"), r" (?:revela|revele|muestra|muéstrame|muestre|dime|dame|repite|imprime|escribe|enseña|enséñame|comparte|cuál es|cuáles son)(?: \w+){0,4} (?:tu|tus|su|sus|el|las) (?:\w+ )?(?:prompt(?: de(?:l)? sistema| inicial| oculto)?|instrucciones (?:del sistema|de sistema|iniciales|ocultas|secretas|internas|originales)|mensaje (?:del|de) sistema)(?= )"),
    ("es", _PERSONA, ("ahora eres", "eres ahora", "a partir de ahora", "de ahora en adelante", "desde ahora", "ya no eres", "actúa", "actua", "compórtate", "comportate", "finge"), r" (?:ahora eres|eres ahora|ya no eres|ahora usted es)(?: \w+){0,4} (?:ia|asistente|chatbot|dan|modelo|bot|restricciones|reglas|filtros|hacker|pirata)(?= )| (?:a partir de ahora|de ahora en adelante|desde ahora|a partir de este momento) (?:debes|tienes que|vas a|responderás|obedecerás|eres|serás|contestarás|actuarás|debe|responderá|responde|contesta|actúa)(?: \w+){0,4}(?= )| (?:actúa|compórtate|finge)(?: \w+){0,6} (?:sin|ninguna?)(?: \w+)? (?:restricciones|reglas|filtros|límites|censura)(?= )"),
    (
        "pt", _OVERRIDE, ("ignor", "esqueç", "esquec", "desconsider", "desobede", "descart"),
        r"(?<! não)(?<! nunca)(?<! eu) (?:ignor(?:e|a|em|ar)|esque(?:ça|ce|cer|çam)|desconsider(?:e|a|em|ar)|descart(?:e|a|ar))(?: (?:tod[oa]s?|as|os|suas|seus|essas|estas|de|por|favor|agora|e|quaisquer|tuas)){0,5}(?: \w+)? (?:instruç(?:ão|ões)|orientações|ordens|regras|diretrizes|diretivas|prompts?|comandos|normas|restrições)(?: \w+){0,2} (?:anterior(?:es)?|prévi[oa]s?|acima|inicia(?:l|is)|origina(?:l|is)|do sistema|precedentes?|recebid[oa]s|dad[oa]s|de segurança)(?= )",
    ),
    ("pt", _OVERRIDE, ("ignor", "esqueç", "esquec"), r"(?<! não)(?<! nunca) (?:ignor(?:e|a)|esque(?:ça|ce)) (?:(?:todas )?(?:as )?(?:suas|tuas) (?:instruções|regras|diretrizes|restrições)|tudo (?:acima|o que (?:foi|te|lhe|você|está)(?: \w+){0,4} (?:dito|ensinado|acima|antes|disseram|aprendeu)))(?= )"),
    ("pt", _REVEAL, ("prompt", "instruç", "instruc", "mensagem"), r" (?:revele|revela|mostre|mostra|exiba|diga|dê|repita|imprima|escreva|compartilhe|qual é|quais são)(?: \w+){0,4} (?:seu|sua|suas|seus|teu|tuas|o|as) (?:\w+ )?(?:prompt(?: do sistema| de sistema| inicial| oculto)?|instruções (?:do sistema|iniciais|ocultas|secretas|internas|originais)|mensagem (?:do|de) sistema)(?= )"),
    ("pt", _PERSONA, ("você agora", "agora você", "tu agora", "a partir de agora", "de agora em diante", "você não é mais", "voce agora", "agora voce", "finja", "aja"), r" (?:você agora é|agora você é|você não é mais|agora tu és)(?: \w+){0,4} (?:ia|assistente|chatbot|dan|modelo|bot|restrições|regras|filtros|hacker|pirata)(?= )| (?:a partir de agora|de agora em diante|doravante) (?:você|tu) (?:deve|vai|irá|responderá|obedecerá|é|será|responde|precisa|deves|tem que)(?: \w+){0,4}(?= )| (?:aja|finja|comporte se)(?: \w+){0,6} (?:sem|nenhuma?)(?: \w+)? (?:restrições|regras|filtros|limites|censura)(?= )"),
    (
        "it", _OVERRIDE, ("ignor", "dimentic", "tralasci", "trascur", "scord"),
        r"(?<! non)(?<! mai)(?<! io) (?:ignor(?:a|i|are|ate)|dimentic(?:a|hi|are|ate)|tralasci(?:a|are)?|trascur(?:a|i|are)|scord(?:a|ati|are)|non (?:seguire|considerare|tenere conto (?:di|delle)))(?: (?:tutt[eio]|le|i|gli|tue|tuoi|queste|di|ora|e|ogni|qualsiasi|per|favore)){0,5}(?: \w+)? (?:istruzion[ei]|regol[ea]|direttiv[ea]|ordini|comandi|prompt|indicazioni|linee guida|restrizioni)(?: \w+){0,2} (?:precedent[ei]|di prima|sopra|inizial[ei]|original[ei]|di sistema|del sistema|ricevut[ei]|dat[ei]|sopra riportate|di sicurezza)(?= )",
    ),
    ("it", _OVERRIDE, ("ignor", "dimentic"), r"(?<! non)(?<! mai) (?:ignora|dimentica) (?:(?:tutte )?le (?:tue|precedenti) (?:istruzioni|regole|direttive|restrizioni)|tutto (?:quello|ciò)(?: che)?(?: \w+){0,4} (?:sopra|prima|detto|insegnato|imparato|precede))(?= )"),
    ("it", _REVEAL, ("prompt", "istruzion", "messaggio"), r" (?:rivela|mostra|mostrami|dimmi|dammi|ripeti|stampa|scrivi|condividi|svela|qual è|quali sono)(?: \w+){0,4} (?:tuo|tua|tue|il|le) (?:\w+ )?(?:prompt(?: di sistema| iniziale| nascosto)?|istruzioni (?:di sistema|iniziali|nascoste|segrete|interne|originali)|messaggio di sistema)(?= )"),
    ("it", _PERSONA, ("ora sei", "adesso sei", "non sei più", "non sei piu", "d ora in", "da ora in", "da adesso in", "da questo momento", "fingi", "comportati"), r" (?:ora|adesso) sei(?: \w+){0,4} (?:ia|assistente|chatbot|dan|modello|bot|restrizioni|regole|filtri|hacker|pirata)(?= )| (?:d ora in poi|d ora in avanti|da ora in poi|da ora in avanti|da adesso in poi|da questo momento) (?:devi|risponderai|obbedirai|sei|sarai|rispondi|dovrai)(?: \w+){0,4}(?= )| (?:fingi|comportati)(?: \w+){0,6} (?:senza|nessun\w?)(?: \w+)? (?:restrizioni|regole|filtri|limiti|censura)(?= )"),
    (
        "nl", _OVERRIDE, ("negeer", "vergeet", "negeren", "sla "),
        r"(?<! nooit)(?<! niet)(?<! ik)(?<! we) (?:negeer|vergeet|negeren)(?: (?:alle|al|de|je|jouw|uw|deze|alstublieft|nu|eerst|en|hierbij)){0,5} (?:vorige|voorgaande|eerdere|bovenstaande|bestaande|oorspronkelijke|je|jouw|uw)(?: \w+){0,2} (?:instructies?|opdrachten|regels|richtlijnen|prompts?|aanwijzingen|bevelen|beperkingen|systeemprompt)(?= )",
    ),
    ("nl", _REVEAL, ("prompt", "instructie", "systeem", "system prompt"), r" (?:toon|laat|geef|onthul|vertel|herhaal|print|wat is|wat zijn)(?: \w+){0,4} (?:je|jouw|uw|de) (?:\w+ )?(?:systeem ?prompt|systeeminstructies|verborgen (?:prompt|instructies)|geheime instructies|oorspronkelijke (?:prompt|instructies)|system prompt)(?= )"),
    ("nl", _PERSONA, ("je bent nu", "jij bent nu", "u bent nu", "vanaf nu", "doe alsof"), r" (?:je|jij|u) bent (?:nu|vanaf nu|voortaan)(?: \w+){0,4} (?:ai|assistent|chatbot|dan|model|beperkingen|regels|hacker|piraat)(?= )| (?:vanaf nu|voortaan|van nu af aan) (?:moet|zal|ga|antwoord|gehoorzaam|ben) (?:je|jij|u)(?: \w+){0,4}(?= )| doe alsof(?: \w+){0,6} (?:zonder|geen)(?: \w+)? (?:regels|beperkingen|filters)(?= )"),
    (
        "pl", _OVERRIDE, ("zignoruj", "ignoruj", "zapomnij", "pomiń", "pomin"),
        r"(?<! nie)(?<! nigdy) (?:zignoruj(?:cie)?|ignoruj(?:cie)?|zapomnij(?:cie)?(?: o)?|pomiń)(?: (?:wszystkie|wszystkich|te|swoje|twoje|swoich|o|proszę|teraz|i)){0,5} (?:poprzednie|poprzednich|wcześniejsze|wcześniejszych|powyższe|powyższych|dotychczasowe|dotychczasowych|swoje|twoje|swoich)(?: \w+){0,2} (?:instrukcj[eia]|instrukcji|polecenia|poleceń|zasady|zasad|reguły|reguł|wytyczne|wytycznych|ograniczenia|prompty?|rozkazy)(?= )",
    ),
    ("pl", _REVEAL, ("prompt", "instrukcj"), r" (?:pokaż|ujawnij|podaj|wyświetl|powtórz|wypisz|zdradź|jaki jest|jakie są)(?: \w+){0,4} (?:swój|twój|swoje|twoje|mi) (?:\w+ )?(?:prompt(?: systemowy)?|systemowy prompt|instrukcje (?:systemowe|początkowe|ukryte)|ukryte instrukcje|tajne instrukcje)(?= )"),
    ("pl", _PERSONA, ("jesteś teraz", "teraz jesteś", "od teraz", "odtąd", "jestes teraz", "teraz jestes", "odtad"), r" (?:jesteś teraz|teraz jesteś|od teraz jesteś)(?: \w+){0,4} (?:ai|asystentem|chatbotem|dan|modelem|ograniczeń|zasad|hakerem|piratem)(?= )| (?:od teraz|odtąd|od tej chwili) (?:musisz|będziesz|masz|odpowiadasz|odpowiadaj|słuchasz)(?: \w+){0,4}(?= )"),
    (
        "cs", _OVERRIDE, ("ignoruj", "zapomeň", "zapomen"),
        r"(?<! ne)(?<! nikdy) (?:ignoruj(?:te)?|zapomeň(?:te)?(?: na)?)(?: (?:všechny|všechna|veškeré|ty|své|na|prosím)){0,4} (?:předchozí|předešlé|výše uvedené|dřívější|své|původní)(?: \w+){0,2} (?:instrukce|pokyny|příkazy|pravidla|prompty?|omezení)(?= )",
    ),
    (
        "sv", _OVERRIDE, ("ignorera", "glöm", "glom", "bortse", "strunta"),
        r"(?<! inte)(?<! aldrig)(?<! jag)(?<! vi) (?:ignorera|glöm(?: bort)?|bortse från|strunta i)(?: (?:alla|de|dina|era|nu|allt|samtliga)){0,4} (?:tidigare|föregående|ovanstående|befintliga|ursprungliga|dina)(?: \w+){0,2} (?:instruktioner(?:na)?|regler(?:na)?|anvisningar|order|kommandon|riktlinjer|begränsningar|promptar)(?= )",
    ),
    (
        "da,no", _OVERRIDE, ("ignorer", "glem", "se bort"),
        r"(?<! ikke)(?<! aldri)(?<! aldrig)(?<! jeg)(?<! vi) (?:ignorer|glem|se bort fra)(?: (?:alle|alt|de|dine|nå|nu|samtlige)){0,4} (?:tidligere|forrige|foregående|ovenstående|eksisterende|opprinnelige|oprindelige|dine)(?: \w+){0,2} (?:instruksjoner|instruksjonene|instruktioner|instrukser|regler|reglene|ordrer|kommandoer|retningslinjer)(?= )",
    ),
    (
        "ro", _OVERRIDE, ("ignor", "uită", "uita"),
        r"(?<! nu)(?<! niciodată) (?:ignoră|ignorați|uită(?: de)?|uitați)(?: (?:toate|de|aceste|te|rog)){0,4} (?:instrucțiunile|regulile|ordinele|comenzile|directivele|prompturile|indicațiile)(?: \w+){0,2} (?:anterioare|precedente|de mai sus|inițiale|tale|primite|existente)(?= )",
    ),
    (
        "tr", _OVERRIDE, ("yoksay", "yok say", "görmezden", "gormezden", "unut", "dikkate alma", "göz ardı", "goz ardi", "göz ardi"),
        r" (?:önceki|yukarıdaki|daha önceki|bundan önceki|mevcut|verilen|sistem|eski)(?: \w+){0,3} (?:talimat\w*|yönerge\w*|komut\w*|kural\w*|emir\w*|istem\w*|yönlendirme\w*|sınırlama\w*|prompt\w*)(?: (?:hepsini|tamamını|tümünü|lütfen)){0,2} (?:yoksay\w*|yok say\w*|görmezden gel(?!me)\w*|unut(?!ma)\w*|dikkate alma(?!z)\w*|göz ardı et(?!me)\w*)(?= )",
    ),
    ("tr", _REVEAL, ("istem", "prompt", "talimat"), r" (?:sistem istemini|sistem istemi(?:ni)?|sistem prompt\w*|gizli talimatlar\w*|sistem talimatlar\w*)(?: \w+){0,2} (?:göster\w*|açıkla\w*|yaz\w*|söyle\w*|paylaş\w*|tekrarla\w*|nedir)(?= )"),
    ("tr", _PERSONA, ("artık sen", "sen artık", "artik sen", "sen artik", "şu andan itibaren", "su andan itibaren", "bundan sonra"), r" (?:artık sen|sen artık)(?: \w+){0,4} (?:yapay|asistan\w*|dan|bot\w*|kural\w*|sınır\w*|kısıtlama\w*)(?= )| (?:şu andan itibaren|bundan sonra)(?: sen)?(?: \w+){0,5} (?:cevap vereceksin|yanıt vereceksin|itaat edeceksin|sın|davranacaksın|olacaksın|zorundasın|cevap vermelisin|yanıtlayacaksın)(?= )"),
    (
        "id,ms", _OVERRIDE, ("abaikan", "lupakan"),
        r"(?<! jangan)(?<! tidak)(?<! jangan pernah) (?:abaikan|lupakan|hiraukan)(?: (?:semua|seluruh|segala|tolong|saja|terlebih|dahulu)){0,4} (?:instruksi|perintah|aturan|arahan|petunjuk|pedoman|prompt|batasan)(?: \w+){0,2} (?:sebelumnya|terdahulu|di atas|sebelum ini|awal|anda|kamu|sistem|yang)(?= )",
    ),
    ("id,ms", _REVEAL, ("prompt", "instruksi"), r" (?:tampilkan|tunjukkan|ungkapkan|berikan|ulangi|cetak|sebutkan|apa)(?: \w+){0,3} (?:prompt sistem|instruksi (?:sistem|awal|rahasia|tersembunyi)|prompt (?:awal|rahasia))(?= )"),
    ("id,ms", _PERSONA, ("mulai sekarang",), r" mulai sekarang(?: \w+)? (?:kamu|anda) (?:harus|akan|adalah|wajib|hanya|bukan)(?: \w+){0,4}(?= )"),
    (
        "vi", _OVERRIDE, ("bỏ qua", "bo qua", "quên", "quen", "phớt lờ", "phot lo"),
        r"(?<! không)(?<! đừng) (?:hãy )?(?:bỏ qua|quên|phớt lờ)(?: (?:hết|tất|cả|mọi|toàn|bộ|đi|các|những)){0,5} (?:hướng dẫn|chỉ dẫn|chỉ thị|lệnh|quy tắc|yêu cầu|câu lệnh|mệnh lệnh)(?: \w+){0,3} (?:trước|trên|trước đó|trước đây|ban đầu|hệ thống)(?= )",
    ),
    ("vi", _REVEAL, ("lời nhắc", "loi nhac", "prompt"), r" (?:hiển thị|tiết lộ|cho (?:tôi|xem)|in ra|lặp lại)(?: \w+){0,4} (?:lời nhắc hệ thống|prompt hệ thống|hướng dẫn hệ thống|system prompt)(?= )"),
    (
        "fi", _OVERRIDE, ("unohda", "ohita", "jätä huomiotta", "älä välitä", "jata huomiotta"),
        r"(?<! älä) (?:unohda|ohita|jätä huomiotta|sivuuta)(?: (?:kaikki|nämä|kaikkia)){0,3} (?:aiemmat|edelliset|aikaisemmat|yllä olevat|edeltävät)(?: \w+){0,2} (?:ohjeet|käskyt|säännöt|määräykset|kehotteet|ohjeesi)(?= )",
    ),
    (
        "hu", _OVERRIDE, ("hagyd figyelmen", "felejts", "felejtsd", "hagyja figyelmen"),
        r"(?<! ne) (?:hagyd figyelmen kívül|hagyja figyelmen kívül|felejtsd el|felejts el|felejtse el)(?: (?:az|a|összes|minden|eddigi)){0,4} (?:korábbi|előző|fenti|eddigi|eredeti)(?: \w+){0,2} (?:utasítás\w*|szabály\w*|parancs\w*|útmutatás\w*|instrukció\w*|prompt\w*)(?= )",
    ),
    (
        "el", _OVERRIDE, ("αγνόησε", "αγνοησε", "αγνοήστε", "αγνοηστε", "ξέχασε", "ξεχασε", "ξεχάστε", "ξεχαστε"),
        r"(?<! μην)(?<! μη) (?:αγνόησε|αγνοήστε|ξέχασε|ξεχάστε)(?: (?:όλες|τις|όλα|τα|σου|όλους|τους)){0,4} (?:προηγούμενες|προηγούμενα|παραπάνω|αρχικές|προηγούμενους)(?: \w+){0,2} (?:οδηγίες|εντολές|κανόνες|κατευθύνσεις)(?= )",
    ),
    (
        "ru", _OVERRIDE, ("игнорир", "забудь", "проигнорир", "отбрось", "не обращай", "пренебре", "не следуй"),
        r"(?<! не)(?<! никогда)(?<! нельзя)(?<! я) (?:(?:про)?игнорируй(?:те)?|(?:про)?игнорировать|забудь(?:те)?(?: про| обо| о)?|отбрось(?:те)?|не обращай(?:те)? внимания на|пренебреги(?:те)?|не следуй(?:те)?)(?: (?:все|всеми|всех|всем|эти|те|свои|твои|ваши|любые|и|пожалуйста|сейчас|обо)){0,5} (?:предыдущи\w+|прежни\w+|прошлы\w+|предшествующи\w+|вышеуказанн\w+|вышеприведенн\w+|вышестоящи\w+|первоначальн\w+|изначальн\w+|ранее данн\w+|системн\w+|свои|твои|ваши)(?: \w+){0,2} (?:инструкци\w+|указани\w+|правил\w*|команд\w*|распоряжени\w+|директив\w*|промпт\w*|запрос\w*|установк\w+|ограничени\w+)(?= )",
    ),
    ("ru", _OVERRIDE, ("забудь", "игнорир"), r"(?<! не) (?:забудь(?:те)?|(?:про)?игнорируй(?:те)?) (?:все|всё) что(?: \w+){0,4} (?:выше|раньше|ранее|до этого|говорили|сказали|учили|знаешь|было)(?= )"),
    ("ru", _REVEAL, ("промпт", "инструкци", "подсказк"), r" (?:покажи|раскрой|выведи|напечатай|повтори|сообщи|скажи|выдай|назови|какой|каковы|какие)(?:те)?(?: \w+){0,4} (?:свой|твой|ваш|свои|твои|ваши|мне|у тебя) (?:\w+ )?(?:системн\w+ (?:промпт|инструкци\w+|сообщени\w+|подсказк\w+)|скрыт\w+ инструкци\w+|секретн\w+ инструкци\w+|начальн\w+ (?:промпт|инструкци\w+)|промпт\w*)(?= )"),
    ("ru", _PERSONA, ("ты теперь", "теперь ты", "вы теперь", "теперь вы", "отныне", "с этого момента", "с этой минуты", "притворись", "веди себя"), r" (?:ты теперь|теперь ты|вы теперь|теперь вы)(?: \w+){0,4} (?:ии|ассистент\w*|чат ?бот\w*|dan|дэн|бот|модель|ограничени\w+|правил|фильтров|хакер\w*|пират\w*)(?= )| (?:отныне|с этого момента|с этой минуты|впредь) (?:ты|вы)(?: \w+)? (?:должен|должна|должны|будешь|будете|обязан\w*|отвечаешь|подчиняешься|не)(?: \w+){0,4}(?= )| (?:притворись|веди себя)(?: \w+){0,6} без(?: \w+)? (?:ограничений|правил|фильтров|цензуры)(?= )"),
    (
        "uk", _OVERRIDE, ("ігнору", "забудь", "проігнору"),
        r"(?<! не)(?<! ніколи) (?:(?:про)?ігноруй(?:те)?|забудь(?:те)?(?: про)?)(?: (?:усі|всі|ці|свої|твої|про|будь|ласка)){0,5} (?:попередні|минулі|вищенаведені|попередніх|початкові|свої|твої)(?: \w+){0,2} (?:інструкції|вказівки|правила|команди|накази|інструкцій|обмеження|промпти)(?= )",
    ),
    ("uk", _PERSONA, ("відтепер", "з цього моменту"), r" (?:відтепер|з цього моменту) (?:ти|ви) (?:маєш|повинен|повинна|будеш|мусиш|відповідаєш|маєте)(?: \w+){0,4}(?= )"),
    (
        "ar", _OVERRIDE, ("تجاهل", "انس", "انسى", "تجاوز", "اهمل", "أهمل"),
        r"(?<! لا)(?<! لن) (?:تجاهلي?|انسى?|إنسى?|تجاوز|أهمل)(?: (?:جميع|كل|كافة|هذه|من|فضلك)){0,4} (?:التعليمات|الأوامر|القواعد|الإرشادات|تعليماتك|التوجيهات|القيود)(?: \w+){0,2} (?:السابقة|أعلاه|الأولية|الأصلية|المذكورة|السابق|قبل|الخاصة|المعطاة)(?= )",
    ),
    ("ar", _REVEAL, ("النظام", "التعليمات", "تعليمات"), r" (?:أظهر|اعرض|اكشف|أخبرني|اطبع|كرر|ما هي|شارك|أعطني)(?: \w+){0,3} (?:موجه النظام|تعليمات النظام|رسالة النظام|تعليماتك (?:السرية|الأصلية|الأولية)|التعليمات (?:السرية|المخفية))(?= )"),
    ("ar", _PERSONA, ("من الآن", "أنت الآن", "من الان", "انت الان"), r" (?:من الآن فصاعدا|منذ الآن|من الآن)(?: \w+)? (?:يجب|عليك|ستجيب|أنت|سوف|لن)(?: \w+){0,4}(?= )| أنت الآن(?: \w+){0,4} (?:ذكاء|مساعد|روبوت|قيود|قواعد|dan)(?= )"),
    (
        "fa", _OVERRIDE, ("نادیده", "فراموش"),
        r" (?:تمام|همه|همهی|کلیه|دستورالعمل|دستورات|قوانین)(?: \w+){0,5} (?:قبلی|پیشین|بالا|قبل)(?: \w+){0,3} (?:نادیده بگیر|نادیده بگیرید|فراموش کن|فراموش کنید)(?= )",
    ),
    (
        "he", _OVERRIDE, ("התעלם", "שכח", "התעלמי", "התעלמו"),
        r"(?<! אל)(?<! לא) (?:התעלם|התעלמי|התעלמו|שכח|שכחי|שכחו)(?: (?:מכל|כל|את|מ|מן)){0,3} (?:מכל |מ)?ה?(?:הוראות|הנחיות|כללים|פקודות|ההוראות|ההנחיות|הכללים)(?: \w+){0,2} (?:הקודמות|הקודמים|למעלה|שלעיל|המקוריות|הקודמת|שלך|לעיל)(?= )",
    ),
    (
        "hi", _OVERRIDE, ("अनदेखा", "भूल", "नज़रअंदाज़", "नजरअंदाज", "नज़रअंदाज", "इग्नोर", "उपेक्षा"),
        r" (?:पिछले|पिछली|पहले|उपरोक्त|ऊपर|पूर्व|सभी|अपने)(?: [^\x00 ]+){0,4} (?:निर्देशों?|निर्देश|आदेशों?|नियमों?|आदेश|नियम|हिदायतों|प्रॉम्प्ट)(?: [^\x00 ]+){0,2} (?:अनदेखा|भूल|नज़रअंदाज़|नजरअंदाज|नज़रअंदाज|इग्नोर|उपेक्षा)(?: (?:कर|करें|करो|जाओ|जाएं|जाइए|जा|दो|दें|कीजिए))",
    ),
    (
        "bn", _OVERRIDE, ("উপেক্ষা", "ভুলে", "অগ্রাহ্য"),
        r" (?:আগের|পূর্ববর্তী|পূর্বের|উপরের|সমস্ত|সব)(?: [^\x00 ]+){0,4} (?:নির্দেশাবলী|নির্দেশনা|নির্দেশ|নিয়ম|আদেশ)(?: [^\x00 ]+){0,2} (?:উপেক্ষা|ভুলে|অগ্রাহ্য)(?: (?:করুন|করো|কর|যাও|যান))",
    ),
    (
        "th", _OVERRIDE, ("เพิกเฉย", "ละเว้น", "ลืม", "ไม่ต้องสนใจ"),
        r"(?<!อย่า)(?:เพิกเฉย|ละเว้น|ลืม|ไม่ต้องสนใจ)(?:ต่อ| )?[^\x00]{0,12}(?:คำสั่ง|คำแนะนำ|กฎ|ข้อกำหนด)[^\x00]{0,12}(?:ก่อนหน้า|ข้างต้น|ก่อน|เดิม|ด้านบน)",
    ),
    (
        "zh", _OVERRIDE, ("忽略", "无视", "無視", "忘记", "忘記", "忘掉", "不要理会", "不要理會", "不用管", "抛弃", "不要遵守", "不要遵循", "绕过", "覆盖"),
        r"(?<!不要)(?<!别)(?<!不能)(?<!不可)(?<!勿)(?<!不会)(?<!不应)(?<!不得)(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要理會|不用管|抛弃|不要遵守|不要遵循|绕过|覆盖) ?(?:掉|你)?[^\x00]{0,8}?(?:之前|以前|先前|上述|上面|以上|前面|此前|原先|原来|最初|系统|系統|一切|所有|全部|你的)[^\x00]{0,10}?(?:指令|指示|命令|规则|規則|提示词|提示詞|提示|设定|設定|约束|限制|准则|要求|规定)(?!说明书)",
    ),
    ("zh", _REVEAL, ("提示词", "提示詞", "系统提示", "系統提示", "系统指令", "系统消息", "初始指令"), r"(?:显示|顯示|输出|輸出|告诉我|告訴我|透露|泄露|洩露|打印|重复|重複|公开|给我看|展示|说出|揭示|揭露)[^\x00]{0,12}(?:你的|妳的|您的|完整|全部|隐藏|原始|内部)[^\x00]{0,6}(?:系统提示词?|系統提示詞?|提示词|提示詞|系统指令|系统消息|初始指令|隐藏指令|内部指令)"),
    ("zh", _PERSONA, ("从现在起", "从现在开始", "從現在起", "從現在開始", "今后", "你现在是", "你現在是", "假装", "扮演"), r"(?:从现在起|从现在开始|從現在起|從現在開始|今后|从此) ?(?:你|您)(?:必须|必須|要|将|將|只能|应该|不再|就是|是|会|都|需要)|(?:你现在是|你現在是|假装你是|扮演)[^\x00]{0,16}(?:没有|沒有|不受|无|無)[^\x00]{0,8}(?:限制|约束|規則|规则|审查|道德)|你(?:现在|現在)是 ?(?:dan|越狱|开发者模式)"),
    (
        "ja", _OVERRIDE, ("無視", "忘れ", "従わない", "破棄"),
        r"(?:以前|これまで|今まで|前|上記|上|以上|先ほど|すべて|全て|全部|元|既存|最初|あなた|システム)の?[^\x00]{0,10}?(?:指示|命令|ルール|指令|プロンプト|規則|制約|制限|設定|ガイドライン)[^\x00]{0,8}?(?:を|は|に)[^\x00]{0,6}?(?:無視し(?:て|ろ|なさい|た上|、)|無視せよ|無視する(?:こと|ように)|忘れ(?:て(?!い|は)|ろ|なさい)|従わないで|破棄し)",
    ),
    ("ja", _REVEAL, ("プロンプト", "指示"), r"(?:システム ?プロンプト|隠された(?:指示|プロンプト)|初期(?:指示|プロンプト)|内部の?指示|秘密の指示)[^\x00]{0,8}(?:を|は)[^\x00]{0,10}(?:教え(?:て|ろ)|見せ(?:て|ろ)|表示し|出力し|明かし|開示し|公開し|繰り返し|何です)"),
    ("ja", _PERSONA, ("今から", "これから", "今後"), r"(?:今から|これから|今後は?|以降) ?、? ?(?:あなた|君|お前|貴方)は[^\x00]{0,24}(?:です|となり|として|答え(?:なければ|る|て)|従(?:い|う|わ)|だ(?= |\x00|$)|ふるまい|振る舞)"),
    (
        "ko", _OVERRIDE, ("무시", "잊어", "잊으", "따르지"),
        r"(?:이전|지금까지|위|앞|기존|모든|원래|시스템)(?:의|에|에서)?[^\x00]{0,10}?(?:지시|명령|규칙|지침|프롬프트|설정|제한|안내)[^\x00]{0,8}? ?(?:무시(?:해|하고|하세요|하십시오|하라|할 것)|잊어(?:버려|라|주세요)?|잊으세요|따르지 (?:마|말))",
    ),
    ("ko", _REVEAL, ("프롬프트", "지시"), r"(?:시스템 ?프롬프트|숨겨진 (?:지시|프롬프트)|초기 (?:지시|프롬프트)|내부 지침)[^\x00]{0,8}(?:보여|알려|출력|공개|말해|반복|표시|뭐)"),
    ("ko", _PERSONA, ("지금부터", "이제부터"), r"(?:지금부터|이제부터) ?(?:너는|당신은|넌)[^\x00]{0,24}(?:해야|이다|입니다|답변|대답|복종|행동|제한 ?없|따라야)"),
)  # fmt: skip

LANGUAGES: tuple[Pattern, ...] = tuple(
    Pattern(kind, tuple(tongues.split(",")), f"{kind.value} in {tongues}", needles, expression)
    for tongues, kind, needles, expression in _SPOKEN
)
"""One pattern a language and kind at least; a test has an attack for each of them."""
