"""Sentences that users say, with the words that tell them: the material of Said.

Nine kinds, several languages. They are invented, and they are no training set: whoever writes a
pattern that fits them has fitted nothing. `{n}` takes a number of the seed's.
"""

from __future__ import annotations

# kind -> (text, telling words)
STATEMENTS: dict[str, tuple[tuple[str, str], ...]] = {
    "standing rule": (
        ("Don't touch anything under vendor, ever.", "touch under vendor"),
        ("From now on write log lines in lower case.", "log lines lower case"),
        ("Every migration needs a down step.", "migration needs down step"),
        ("We never store raw addresses, only the hash.", "store raw addresses hash"),
        ("Keep pull requests below {n} lines.", "pull requests below {n} lines"),
        ("Please ask before you add a dependency.", "ask before add dependency"),
        ("Tests go beside the module, not in a folder of their own.", "tests beside module folder"),
        ("Stop apologising and just tell me the result.", "stop apologising tell result"),
    ),
    "no-X inside a request": (
        ("Speed up the import but leave the file format alone.", "speed import file format"),
        ("Split the settings page into tabs, no new framework.", "settings page tabs framework"),
        ("Upgrade the client, without touching the retry logic.", "upgrade client retry logic"),
        ("Make the table sortable and don't reload the page.", "table sortable reload page"),
        ("Write the changelog; nothing about the pilot customers.", "changelog pilot customers"),
        ("Cache the quotes, but not on disk.", "cache quotes disk"),
    ),
    "fact about the world": (
        ("The staging box has {n} megabytes of memory.", "staging box {n} megabytes"),
        ("Our largest tenant has nine million invoices.", "largest tenant nine million invoices"),
        ("The vendor's sandbox is down every night at two.", "vendor sandbox down night"),
        ("Half of the users are still on the old firmware.", "half users old firmware"),
        ("The billing queue only keeps messages for a day.", "billing queue messages day"),
        ("Customs needs the weight in grams.", "customs weight grams"),
    ),
    "acceptance": (
        ("I'm happy when the nightly report fits on one page.", "happy nightly report page"),
        ("It counts as done once Ines has signed it off.", "done ines signed"),
        ("The upload has to survive a lost connection.", "upload survive lost connection"),
        ("Anything above {n} ms is too slow for us.", "above {n} ms slow"),
        ("It's only finished when the old endpoint is gone.", "finished old endpoint gone"),
        ("The numbers must match last quarter's to the cent.", "numbers match quarter cent"),
    ),
    "choice": (
        ("Then the second one, but keep the old name.", "second keep old name"),
        ("Go with SQLite, a server is too much here.", "sqlite server much"),
        ("I prefer the table over the cards.", "prefer table cards"),
        ("Let's do polling first, sockets if anybody complains.", "polling sockets complains"),
        ("Yes to the queue, no to the extra worker.", "yes queue no extra worker"),
        ("Both, but behind the same switch.", "both behind same switch"),
    ),
    "later": (
        ("Leave the translations for after the launch.", "translations after launch"),
        ("We'll look at the slow query in March.", "slow query march"),
        ("The admin view is not part of this.", "admin view not part"),
        ("Park the rename, it's on the list for release {n}.", "park rename release {n}"),
        ("Skip the flaky upload test today.", "skip flaky upload test"),
        ("Printing can stay broken for now.", "printing stay broken"),
    ),
    "who": (
        ("Priya decides about the schema.", "priya decides schema"),
        ("Only the night crew may restart the gateway.", "night crew restart gateway"),
        ("Send questions about taxes to Oluwaseun.", "questions taxes oluwaseun"),
        ("Legal wants to read every mail template.", "legal read mail template"),
        ("The partner team owns that bucket, not us.", "partner team owns bucket"),
        ("Ask me before you spend money on an API.", "ask before spend money"),
    ),
    "why": (
        ("The sleep is there because the scanner needs warming up.", "sleep scanner warming"),
        ("We left Mongo when the backups failed twice.", "left mongo backups failed"),
        ("It's in one file so that the auditors can print it.", "one file auditors print"),
        ("That check looks odd, but it stopped a fraud last year.", "check odd fraud year"),
        ("The limit is {n} since the old switch drops longer frames.", "limit {n} switch frames"),
        ("I reverted it because the colours were unreadable.", "reverted colours unreadable"),
    ),
    "other language": (
        ("Die Preise bitte immer netto anzeigen.", "preise immer netto anzeigen"),
        ("Keine neuen Tabellen ohne Rücksprache mit mir.", "keine tabellen ohne rücksprache"),
        ("Los registros se guardan solo {n} días.", "registros guardan solo {n} días"),
        ("No cambies el nombre de las columnas.", "cambies nombre columnas"),
        ("Le bouton doit rester à gauche.", "bouton doit rester gauche"),
        ("Ne touche pas au service de paiement.", "touche pas service paiement"),
        ("I nomi dei file restano in minuscolo.", "nomi file restano minuscolo"),
        ("Sempre rodar os testes antes do commit.", "sempre rodar testes antes commit"),
        ("Не трогай старый модуль отчётов.", "трогай старый модуль отчётов"),
        ("Всегда пиши комментарии по-русски.", "всегда комментарии по-русски"),
        ("请不要修改数据库结构", "请不要修改数据库结构"),
        ("所有时间都用UTC保存", "所有时间都用utc保存"),
        ("エラーメッセージは日本語で書いてください", "エラーメッセージは日本語で書いてください"),
        ("커밋 메시지는 한국어로 작성해 주세요", "커밋 메시지는 한국어로 작성해"),
        ("Używaj tylko jednej kolejki na klienta.", "używaj jednej kolejki klienta"),
        ("Geen nieuwe pakketten zonder overleg.", "geen nieuwe pakketten zonder overleg"),
        ("لا تغير أسماء الحقول", "لا تغير أسماء الحقول"),
        ("कोई नया पैकेज मत जोड़ना", "कोई नया पैकेज मत जोड़ना"),
    ),
}

# (first said, what takes it back, words that must not stand alone, words of the correction)
CORRECTIONS: tuple[tuple[str, str, str, str], ...] = (
    (
        "Name the flag --dry.",
        "Better --preview than --dry for the flag.",
        "Name the flag --dry",
        "--preview",
    ),
    (
        "Use tabs in the templates.",
        "No, spaces in the templates after all.",
        "Use tabs in the templates",
        "spaces in the templates",
    ),
    ("Keep {a} backups.", "Make that {b} backups.", "Keep {a} backups", "{b} backups"),
    (
        "Write the docs in Dutch.",
        "Scrap that, docs in English please.",
        "docs in Dutch",
        "docs in English",
    ),
    (
        "Put the totals at the bottom.",
        "I was wrong, the totals belong at the top.",
        "totals at the bottom",
        "totals belong at the top",
    ),
    (
        "The cutoff is {a} minutes.",
        "Actually the cutoff should be {b} minutes.",
        "cutoff is {a} minutes",
        "cutoff should be {b} minutes",
    ),
    (
        "Deploy to the green cluster.",
        "Wait, the blue cluster, green is being repaired.",
        "Deploy to the green cluster",
        "blue cluster",
    ),
    (
        "Immer duzen in den Texten.",
        "Doch lieber siezen in den Texten.",
        "Immer duzen",
        "lieber siezen",
    ),
    (
        "Usa comillas simples.",
        "Mejor comillas dobles, olvida las simples.",
        "Usa comillas simples",
        "comillas dobles",
    ),
    (
        "Round to {a} decimals.",
        "Sorry, {b} decimals.",
        "Round to {a} decimals",
        "{b} decimals",
    ),
)

CHAT: tuple[str, ...] = (
    "good",
    "and what does that do?",
    "again please",
    "carry on",
    "why is it red?",
    "perfect, thanks",
    "show me",
    "hm",
    "weiter",
    "ok",
)
