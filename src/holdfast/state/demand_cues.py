"""How a sentence sounds: a rule, a hold, a release, a change of mind, a permission, a request.

Only what plainly holds beyond the work at hand is called a rule. Everything the user typed is
quoted anyway, so a sentence that is not recognised loses a heading and not its place. Patterns
are for small letters (`prose.lower_ascii_apostrophes`). Pure.
"""

from holdfast.lazy_regex import lazy_compile

# Where a demand begins: at the start of a sentence, or after a comma or a word such as "please".
# The same words in the middle of a description ("it always returns 0") rule nothing.
_SAID = r"(?:^|[,;:.–—-] ?|\b(?:please|and|but|so|also|then|you|must|should|just) )"
_FIRST = (
    r"^(?:(?:and|also|but|so|please|just|oh|ok|okay|again|always|note that|here|generally|remember"
    r"|now|fine|good|great|perfect|nice|thanks|thank you|alright|right|well|anyway|not yet"
    r"|one (?:more )?thing|same (?:thing|here|rule)(?: again)?)[,:;.!]? )*"
)
# A sentence that says for how long or where it holds, before the demand itself.
_SCOPE = (
    r"^(?:(?:and|also|but|so|please|ok|okay)[, ]+)*(?:for (?:the (?:rest|remainder|duration) of"
    r"|all of|this (?:whole|entire)|the whole) (?:this |the |our )?(?:session|conversation|chat"
    r"|project|work|day|repo)|throughout (?:this|the|our) (?:\w+ )?(?:session|conversation|project"
    r"|chat|work|codebase)|(?:in|for|within|across) (?:this|our|the whole|all of this|my) (?:repo"
    r"|repository|project|codebase|workspace)|as a (?:general )?rule|by default|whatever you do"
    r"|under no circumstances|no matter what|as long as (?:we|you|i)\b[^,:.]*)"
)
_A_FEW = r"(?:an?|any|each|every|all|some|new|more than|a new|the|your|in|to|something|anything)"
_TOOL = (
    r"(?:npm|pnpm|yarn|bun|deno|node|pip|uv|poetry|pipenv|conda|docker|podman|make|just|ninja"
    r"|cmake|mvn|maven|gradle|git|curl|wget|pytest|jest|vitest|tox|nox)"
)
STANDING = lazy_compile(
    rf"{_SAID}(?:always|never(?! mind\b| (?:more|less|fewer) than))\b(?= \w)|{_SAID}(?:keep"
    rf"|bear) in mind\b|{_FIRST}(?:do not|don't|dont|avoid|refrain from|prefer)\b(?= [\w`])"
    rf"|{_SAID}(?:do not|don't|dont) (?:ever|under any)\b|{_SCOPE}(?:[,:]? (?!there|it|we have|i "
    rf"|is )\w|$)"
    r"|^(?:(?:and|also|note that|here) )*we (?:always|never|only|use|don't|do not)\b(?! (?:had|got"
    r"|saw|were|was|did|went|have (?:had|seen|got)|\w+ed)\b)|\b(?:(?:i|we) (?:really |generally "
    r"|always |usually |strongly )?prefer\b|from (?:now|here) on\b|going forward\b"
    r"|in (?:the )?future\b(?! \w)|at all times\b|no more\b|(?:every|each|any) ?time (?:you|we)\b"
    r"|whenever (?:you|we)\b|(?:before|prior to|after) (?:every|each)\b|make it a habit\b"
    r"|(?:remember|be sure) to (?:always|never)\b|remember (?:to|that)\b|you (?:must|mustn't"
    r"|may not|can't|cannot|should never|should always)\b|(?:you|only) (?:may|can|are allowed to"
    r"|should) only\b|are only allowed to\b|not allowed\b|forbidden\b|off[- ]limits\b|hands off\b"
    r"|under no circumstances\b|without (?:asking|telling|checking|my (?:ok|okay|approval"
    r"|permission|say-so|consent|go-ahead))|(?:all|every|each|any|no) (?:[\w'’-]+ ){1,4}(?:must"
    r"|has to|have to|needs? to|shall)\b|(?:all|every|each) (?:[\w'’-]+ ){1,4}needs? (?:an? |its "
    r"|their |some )?(?:own )?(?:tests?|docs?|docstrings?|types?|comments?|reviews?|approvals?"
    r"|tickets?|migrations?)\b|(?:is|are) frozen\b|must (?:not|never|always|stay|remain)\b"
    r"|(?:needs?|has|have) to (?:stay|remain)\b)"
    # A scope of occasions, then what to do on them.
    rf"|{_FIRST}(?:when(?:ever)?|if|before|while|any ?time) you(?! (?:are|'re|were|have|did|see"
    rf"|finish(?:ed)? (?:it|this|that|the)|do (?:it|this|that)|get (?:it|this|that)|think|know|look"
    rf"|can|could)\b)(?:'re (?=\w+ing))? ?\w* ?(?:{_A_FEW} )?[^,]*, (?!it|there|i |we |that|he"
    r"|she|the |this )\w|^(?:after|once) you \w+ (?:an?|any|each|every) [^,]*, \w|^(?:for|in|with"
    r"|on) (?:every|each|any) [^,]*, \w"
    rf"|{_FIRST}(?:when|before|after|while) (?!it|done|finish)\w+ing\b[^,]*, (?!it |there |i |we "
    rf"|the )\w"
    # Things that are kept up and not finished once.
    rf"|{_FIRST}(?:only (?:ever )?(?:edit|change|touch|modify|use|work|reply|answer|respond|read"
    r"|commit|run|write)\b|stick (?:to|with)\b|(?:reply|respond|answer|speak|talk|explain"
    r"|communicate)(?: to me| everything| me)? (?:only |always )?(?:in|with|as|using|briefly)\b"
    r"|(?:end|start|begin|close|open|prefix|sign|finish) (?:off )?(?:every|each|all|any|your)\b"
    r"|call (?:me|yourself)\b|address me\b|(?:limit|restrict) (?:your|every|each|all|any)\b"
    r"|work (?:only|in small|in tiny)\b|treat [^,]{2,40} as (?:errors?|failures?|secret"
    r"|read-only)\b|stay (?:on|in|inside|within|out|away|off|below|under)\b|keep (?:all |every "
    r"|each |any |your |the |my |our |to )?(?:[^,.]|\.\w){2,60}\b(?:under|below|within|at most"
    r"|short|small|minimal|brief|concise|terse|unchanged|untouched|as (?:it|they) (?:is|are)"
    r"|as[- ]is|stable|compatible|out of|away from|free of|private|secret|to a minimum|in sync"
    r"|alphabetical|sorted|up to date|to yourself)\b|leave (?!an? |me |it to )[^,]{2,60}\b(?:alone"
    r"|untouched|unchanged|as (?:it|they) (?:is|are)|as[- ]is)\b"
    r"|make sure (?:that )?[^,]{2,70}\b(?:stays?|remains?|keeps?|always|never|every|each)\b"
    r"|use (?!this|that|it |the )[^,]{2,40} for (?:\w+ ){0,2}\w+s\b"
    r"|use (?:only )?[^,]{2,50}\b(?:here|everywhere|throughout|exclusively|(?:for|in|on) (?:all"
    r"|any|every|each|everything))\b|use only\b|(?:write|name|spell|format|give|report|put|show"
    r"|quote|express|wrap|phrase|mark|label|store|log) (?:all|every|each|any|your)\b[^,]* (?:in|as"
    r"|with|under|below|using|at|to|on|behind)\b|(?:write|give|report|show|quote"
    r"|express) (?:all )?(?:commit|comment|number|date|time|price|amount|unit|measurement"
    r"|docstring|message|path|figure|size|version|percentage)\w*\b[^,]* (?:in|as|with)\b"
    r"|(?:mention|cite|include|add|put|list|state|name|say|flag|warn|ask|tell|check|confirm|run"
    r"|test)\b[^,]*\b(?:every time|each time|whenever|(?:in|on|to) (?:every|each|all)|for (?:every"
    r"|each)|before (?:every|each|any|you)|after (?:every|each|any)|at the (?:end|top|start|bottom"
    r"|beginning) of (?:every|each|your|all|any))\b|ask (?:me |for \w+ )?(?:first )?before\b"
    r"|check with me before\b|(?:assume|expect) (?:that )?(?:i|the user|the reader|every|all"
    r"|readers)\b)|^no (?:new|external|third[- ]party|additional|extra|network|global|inline"
    r"|emojis?|more than|markdown|jargon|abbreviations|one-letter|magic|hard-?coded|filler|apolog"
    r"|trailing|raw|direct|dependenc)\w*\b|^no [\w -]{3,40}(?:,? please\b|, ever\b|\bwithout\b)"
    r"|^(?:commits|commit messages|comments|replies|answers|code|docs|documentation|messages"
    r"|branch(?: name)?s|prs|output|logs|variables|functions|identifiers|file names|files|dates"
    r"|times|timestamps|numbers|indentation|everything|errors|tests|names|amounts|prices"
    r"|tickets) (?:in|as|with|under|without|go(?:es)? (?:to|in|into|under)|are (?:called|written"
    r"|named)|(?:must|should|may) (?:be|have|use|go|stay|not|only|never))\b|^i(?: want| need"
    r"| expect| would like|'d like) (?:each|every|no|only|your|all|you to (?:always|never|ask|keep"
    r"|only|use))\b[^,]* (?:in|to|as|with|under|below|its|be|without|own|first)\b|^your (?:replies"
    r"|answers|messages|commits|responses|summaries|explanations) (?:must|should|are|have|need)\b"
    # Short sentences on tools and files, which leave nothing to finish.
    rf"|{_FIRST}write (?:the |an? |your )?(?:failing )?tests? (?:first|before)\b"
    rf"|{_FIRST}use {_TOOL} (?:rather than|instead of|and not|not|over) {_TOOL}[.!]?$"
    r"|\bwithout (?:adding|installing|introducing) (?:any |new |more |extra )*(?:dependenc|librar"
    r"|packages?\b)|^`?[\w./-]*[/.][\w./-]*`? (?:is|are) read-only[.!]?$"
    r"|^no [\w-]+ files?, (?:only [\w-]+|[\w-]+ only)[.!]?$|^nothing\b.*\b(?:may|must|should)\b"
    r"|^(?:if|when(?:ever)?) (?:an?|any) [^,]{3,60}, (?:please )?(?:tell|ask|show|let me|stop"
    r"|do not|don't|never|always)\b"
)
# That what is asked for holds for all of a kind, or for a kind of occasion: the shape says it.
GENERAL = lazy_compile(
    r"\b(?:that|this|which|it|same) (?:goes|holds|applies|counts) (?:for|to) (?:every|all|each|any"
    r"|the whole|everything)\b|\bin general\b.*\bnot (?:just|only)\b|\bnow and (?:later"
    r"|in future)\b|(?:^|[,:;.] ?)(?:and )?(?:generally|in general|for the future"
    r"|on principle)(?: \w+)?[:,] ?\w|^(?:and )?(?:every|each|any"
    r"|all) (?:new )?[\w-]+ (?:that )?(?:you|we) \w+ (?:\w+ )?(?:needs?|gets?|must|should|has to"
    r"|have to|goes?|is to)\b|^(?:when(?:ever)?|if) i (?:ask|say|tell|write|type|send|paste|give"
    r"|mention|request|report)\b.{2,60}\bi (?:want|expect|need|mean|don't want)\b|\bmy (?:strong "
    r"|clear )?preference (?:is|would be)\b|\bi (?:hate|can't stand|dislike"
    r"|don't like)\b.*[,;.] ?(?:so |please )?(?:don't|dont|do not|never|avoid|no)\b|[,;] ?(?:so "
    r"|and )?(?:please )?(?:don't|dont|do not) (?:ever )?use (?!it\b|this\b|that\b)\w|^you (?:may"
    r"|can) \w+.*\b(?:as long as|provided(?: that)?)\b|^unless i (?:\w+ )?\w+[^,]*, (?:no|don't"
    r"|do not|never|just|only|always|keep|stay)\b|^if (?!it\b|that\b"
    r"|this\b).{3,160}, (?:please )?(?:always )?(?:tell|ask|show|warn|ping|check with) (?:me"
    r"|us)\b.*\b(?:before|first)\b|^(?:new|all) [\w -]{2,40}? (?:always|never|only|must|should)\b"
    r"|^(?:and )?(?:one|1) [\w -]{3,30} per [\w -]{3,30}\.?$|(?:^"
    r"|: ?)(?:please )?stop \w+ing (?!the\b|this\b|that\b|it\b|here\b)\w|^(?:can|could|would"
    r"|will) you (?:please )?[^?]*\b(?:from now on|every time|whenever|(?:in|for|with|on) (?:all"
    r"|every|each|any|everything)\b[^?]* you)\b|^i(?:'d| would)? (?:want|expect|like|need"
    r"|prefer)\b.*\b(?:always|never|whenever|(?:every|each) time)\b|\bwithout exception\b"
    r"|\bat all costs\b|^(?:please )?(?:every|each) (?:\w+ ){0,2}(?:function|method|class|module"
    r"|file|test|endpoint|route|component|commit|pr|branch|migration|change|ticket|query|script"
    r"|package|service|handler|type|constant|feature|release|page) (?:gets?|goes|lives?|belongs?"
    r"|carries|starts?|ends?|begins|uses)\b|^\w+ only (?:on|in|at|after|before|with|from|when) \w"
    r"|^(?:indent|branch off) \w|^keep (?:the|our|all|any) [\w -]{2,40} working\b|^(?:log|test"
    r"|document|check) everything\b|^write (?:\w+ )?tests for (?:each|every|all)\b"
    r"|^all (?:[\w-]+ ){1,3}(?:go|live|belong|stay|end up|get)\b|^(?:please |and |also )*(?:(?:put"
    r"|name|call|place|give|prefix|tag|store|write|keep) (?:every|each)|\w+ (?:every|each|any"
    r"|all) new)\b|^no .{3,60} unless\b|^(?!(?:this|that|it|which|there|the|he|she|they|we|i"
    r"|you)\b)(?![\w ]*\b(?:that|it|this)\b)[\w -]{3,30} may not (?!work|be\b|have|need|apply"
    r"|matter|exist|help|seem|look)\w+|^i (?:really )?(?:don't|do not) want (?:any|you to)\b|(?:^"
    r"|: ?)prefer [\w ]{2,30} over \w|^(?:\w+ ){1,3}(?:lower-?case|upper-?case|snake_case"
    r"|camelcase|kebab-case|capitali[sz]ed)\b|^(?:todas?|todos?|tous|toutes|tutt[ie]|alle"
    r"|wszystkie|все|tüm|bütün)\b.* (?:en|in|auf|em|po|op|на) (?:español|inglés|français|anglais"
    r"|deutsch|englisch|portugu|inglês|italian|inglese|nederlands|engels|polsku|angielsku"
    r"|английском|русском)|\b(?:finger weg|pas touche|no toques|giù le mani|handen af|hep)\b"
    r"|не трогай|, (?:always|never|ever|every time|each time|as (?:usual|always)"
    r"|no exceptions)[.!]?$|\bso (?:please )?(?:avoid|never|no|always|only|nothing)\b (?!idea|need"
    r"|one|problem|luck)\w|^no [\w-]+ (?:anywhere )?(?:in|on|for) (?:this|our|my|the) (?:code"
    r"|codebase|repo|project)\b|^(?!(?:it|this|that|i|we|he|she|they|there|you|is"
    r"|are)\b)[\w ]{3,40} only (?:through|via|by|using)\b|^(?:please )?(?:respect|honou?r|obey"
    r"|adhere to|stick to)\b|^explain (?:\w+ )?like\b|^(?:please )?be (?:careful|brief|concise"
    r"|terse|strict|honest|precise|consistent) (?:with|about|in|when)\b"
    r"|^everything (?:[\w-]+ ){0,4}(?:has to|must|needs to|should|goes)\b|^(?!(?:it|this|that"
    r"|which|there)\b)[\w ]{3,40} (?:stays?|remains?) (?:backwards? compatible|unchanged|untouched"
    r"|private|stable|as (?:it|they) (?:is|are))\b|^(?:please )?(?:put|place|name|write|log|format"
    r"|give me) (?!the\b|this\b|those\b|these\b|its\b)(?:[\w-]+ )?\w+s (?:next to|into|in|under"
    r"|beside|behind|relative|as|without|with)\b|\b(?:comments?|logs?|docs?|commits?|variables?"
    r"|answers?) in (?:english|german|french|spanish)\b"
    # In other languages: on every occasion, or before or if something is done, the user is asked.
    r"|\b(?:grundsätzlich|generell|prinzipiell|en principe|de manière générale|por norma"
    r"|en general|in linea di principio|em geral|in principe|co do zasady|как правило|в целом"
    r"|genel olarak)\b[,:]|^(?:wenn|falls) (?:du|ihr) .*\b(?:frag|sag|zeig|lass|warn|melde)\w*\b"
    r"|^bevor (?:du|ihr) .*\b(?:frag|sag|zeig|lass|warn|melde)\w*\b|^(?:avant (?:de|d')"
    r"|si tu) .*\b(?:demande|préviens|dis-moi|montre|avertis)\b|^(?:antes de|si (?:no )?\w+s"
    r"|se (?:não )?\w+s) .*(?:pregúnt|avís|consúlt|dime|muéstra|pergunt|avis[ae]|mostr|me diz)"
    r"|^(?:prima di|se (?:non )?\w+i) .*\b(?:chiedi|avvisa|dimmi|mostra)|^(?:voordat|als) (?:je"
    r"|jij) .*\b(?:vraag|zeg|meld|toon)\b|^(?:zanim|jeśli|jak) .*\b(?:zapytaj|powiedz|pytaj"
    r"|pokaż)\b|^(?:прежде чем|если|перед тем) .*(?:спрос|спраш|скаж|покаж|предупре)"
    r"|\w+m[ae]den önce .*\bsor|每次|每当|凡是|若要|(?:する|る)前に.*(?:聞|確認|教え)|たび|毎回"
    r"|전에.*(?:물어|확인|알려)|할 때마다|매번|كل مرة|كلما|قبل أن .*(?:اسأل|أخبر)"
)
# What demands nothing, whatever words stand in it: a question without its mark, what might have
# been, a joke.
NO_DEMAND = lazy_compile(
    r"^(?:do|does|did|is|are|was|ca|wo|should|have|has|would|could)n['o]t (?:(?:we|they|i|it|that"
    r"|this|he|she|there|the \w+ (?:have|has|do|does|already))\b|you (?:think|have|know|see|want"
    r"|agree|say|find|already|mean|remember|love|hate|need|just)\b)|😂|🤣|^never in my life\b"
    r"|\b(?:lol|(?:ha){2,}|hehe|lmao|rofl|jk|just kidding)\b|\b(?:should|could|would|might"
    r"|must)(?:n't| not)? have \w"
)
# A document or program is asked for: what follows in the message is what it is to say or do.
DRAFTS = lazy_compile(
    r"^(?:(?:please|can you|could you|now|also|then|ok),? )*(?:draft|write|create|prepare|compose"
    r"|put together|generate|make)\b(?: [\w'-]+){0,4}? (?:contributing|readme|docs?|guide"
    r"|guidelines?|policy|prompt|template|checklist|e?-?mail|post|letter|spec|page|handbook"
    r"|cheat ?sheet|\S+\.md)\b"
)
# A making request whose relative clause says what the thing does.
MADE_TO = lazy_compile(r"\b(?:that|which|who|where|so (?:that )?(?:it|they|the|no|nobody))\b")
# The agent is addressed, and not a thing described.
ADDRESSED = lazy_compile(
    r"^(?:(?:please|also|and|but|so|ok|now|oh|hey|then|just)[, ]+)*(?:always|never|don't|do not"
    r"|dont|no|only|keep|use|prefer|avoid|stick|make sure|write|ask|before|after|when|whenever|if"
    r"|every time|each time|from|for|in|on|i|i'd|we|you|your|remember|be|stop|leave|treat|answer"
    r"|reply|nothing|unless|put|name|run|commit|commits|one|rule|rules|house|my|important|note)\b"
    r"|:"
)
ASKS_OF_IT = lazy_compile(
    r"^(?:how|why|what|where|which|who|is (?:that|this|it)|does|do we|did|can (?:we|that|this)"
    r"|are we)\b|^(?:please |can you )?(?:fix|find out|check|look into|investigate)\b"
)
# What binds, though something is allowed beside it.
BINDS = lazy_compile(
    r"\b(?:always|never|must|only|every|each|all|nothing|none|nobody|as long as|provided|unless"
    r"|but|not|n't|no|dont|keep|off[- ]limits|forbidden|frozen|before|after|until|without"
    r"|require[sd]?|needs?|needed|from now on)\b|n't\b"
)
ASKED_FOR = lazy_compile(r"(?:please )?(?:can|could|would|will) you\b")
# What ends with the work at hand, however firmly it is said.
ONE_OFF = lazy_compile(
    r"^let'?s\b|^(?!nothing|anything|everything|something|during)\w+ing\b|\b(?:do not|don't"
    r"|dont) (?:forget|worry|hesitate|bother)\b|:\s*$|\b(?:this time|just this once|so far"
    r"|anything else|but just|is now|(?:does|do|would) seem|(?:don't|do not) (?!publish|push"
    r"|commit|deploy|merge|release)\w+ it)\b|\bnow\b[.!]?$"
)
_LIMIT = (
    r"(?:\b(?:yet|for now|in the meantime|meanwhile|for the moment|for the time being|right now"
    r"|at the moment|today|tonight|unless i|before (?:i|we|my)\b|until|till)\b(?!\.\w)"
    r"|\bnot (?:now|before)\b|\b(?:in|for|during|with) this (?:session|chat|conversation|task|pr"
    r"|step|change|turn|commit)\b|\bwhile (?:i|we|the \w+ (?:is|are))\b|\bas long as\b)"
)
# Forbidden, or waiting for the user's word, up to some point: in force until it is released.
HOLD = lazy_compile(
    rf"{_FIRST}(?:for this \w+,? )?(?:(?:for now|until [^,]*|today|right now|in this session"
    r"|during this \w+|before (?:i|we) [^,]*),? )?(?:do not|don't|dont|never|hold off|stop|refrain"
    r"|avoid|leave|keep|no(?! [\w ]+ from\b)|not (?:a|one|any)\b|(?:do )?nothing|hands off"
    r"|hold(?! on)"
    rf"|restrict your|you (?:must not|may not|can't|shouldn't|should not))\b.*{_LIMIT}"
    rf"|[,;] (?:but |and |please )*(?:do not|don't|dont|never|no)\b[^,;]*{_LIMIT}"
    r"|\b(?:but|and) (?:please )?(?:do not|don't|dont|never) [^,;]*"
    rf"{_LIMIT}|{_FIRST}(?:for this (?:task|session|pr|change|conversation)|in this session"
    rf"|for now|until"
    r" [^,]*)[, ]+(?:please )?(?:do not|don't|dont|never|no|only|leave|keep)\b"
    rf"|{_FIRST}(?:show|send|give|tell|ask|let) me\b[^,]*\b(?:before (?:you|any|\w+ing)"
    r"|(?:plan|diff|draft|changes?|commit|message|text|commands?|list|design|proposal|approach"
    r"|query|sql|patch|it|them|that|what|how|ask me|let me)\b[^,]*\bfirst\b)"
    rf"|{_FIRST}hold (?:the|this|that|all|any|your) (?:\w+ )?(?:releas|deploy|merg|push|migrat"
    r"|rollout|launch|commit|chang|pr\b)"
    rf"|{_FIRST}(?:always )?(?:wait for|get|hold for) (?:my|me|our|the)\b[^,]*\b(?:go|ok|okay"
    r"|approval|sign|review|answer|confirm\w*|permission|before|green)\b|\bwait (?:for"
    r"|until) (?:my |i |me )|^not yet[:;,.] (?:please )?(?:do not|don't|leave)\b"
    r"|^(?:please )?hold off\b|\buntil i (?:say|confirm|approve|tell|ok|give|have|'ve|am|'m|ask"
    r"|review|check)\b|^(?:ask|check with) (?:me )?first\b|\bi (?:want|need|have|would like"
    r"|'d like) to (?:see|read|check|review|approve|look)\b[^,;]*\b(?:first|before (?:you|we"
    r"|anything|it))\b"
    rf"|{_FIRST}before (?:you )?\w+(?:ing)?\b[^,]*, (?:please )?(?:show|ask|tell|let) me\b"
    # Something is to wait for an occasion.
    rf"|{_FIRST}(?:let's |let us )?(?:hang on|pause|freeze|park|postpone|hold|wait) (?:with|on|the"
    rf"|all"
    r"|any|sending|off)\b.*\b(?:until|till|before|waiting|for now|while|as long as)\b"
    r"|\blet's (?:not|freeze)\b.*\b(?:yet|until|till|before|for now|while)\b"
    rf"|{_FIRST}(?:stay|keep) (?:out of|away from|off)\b.*, (?:\w+(?:'s| is| are)|i'm"
    rf"|we're) \w+ing\b"
    r"|\bi (?:need|want|have)(?: to| still)* \w+ .*\bbefore you (?!go\b|know\b)\w+"
    rf"|{_FIRST}(?:do not|don't|dont|never|no|nothing|leave|keep)\b.*\bbefore (?:the|our|my|it|all"
    r"|every|\w+) .*\b(?:has|have|is|are|answers?|confirms?|approves?)\b"
)
# What a hold waits for is the user's word, and not an occasion.
WAITS_FOR_WORD = lazy_compile(
    r"\b(?:yet|until i|till i|before i|unless i|show me|send me|ask me|ask first|wait for|let me"
    r"|my (?:go|ok|okay|approval|review|sign|word|answer)|for now|hold off|tell me|give me|first)\b"
)
RELEASE = lazy_compile(
    r"(?:^|[,;.!:] ?|\b(?:and|so|then|please|ok|okay|yes|yep|yeah|sure|alright|great|good|perfect"
    r"|now|fine|thanks|to me) )(?:go ahead|proceed|you (?:can|may|are free to|'re free to"
    r"|are allowed to)|feel free to|approved|ship it|go for it|green light|carry on|do it\b"
    r"|i (?:confirm|approve)|confirmed|lgtm|the (?:\w+ )?(?:freeze|hold|lock|review|embargo"
    r"|ban) (?:is|has been) (?:over|done|lifted|off|finished|released)|i(?:'ve| have) (?:reviewed"
    r"|checked|approved))\b"
)
_DOING = (
    r"^(?:(?:ok(?:ay)?|yes|yep|yeah|sure|great|good|perfect|lgtm|now|please|then|and|alright|fine"
    r"|thanks|so|looks good|go ahead and|you can|you may|let's|can you|could you)[,.!:]* )*"
)
FIRST_VERB = lazy_compile(_DOING + r"([a-z]{3,})")
# It is said that something is no longer as it was.
CHANGE = lazy_compile(
    r"^(?:please )?(?:skip|leave out)\b|\b(?:actually|instead|in (?:place|lieu) of|these days"
    r"|nowadays|no longer|no more|any ?more|not .{1,40} any ?more|scrap(?! \w+ing)|forget"
    r"|change of plan|changed? (?:my|our) minds?|on second thoughts?|correction|after all"
    r"|ignore (?:that|the|my|what)|i was wrong|that's wrong|that was wrong|not what i|revert"
    r"|rather|drop (?:that|the|my)|never ?mind|lift(?:ed)?|strike (?:that|the)|switch(?:ed"
    r"|ing)?(?: over)? (?:to|from)|moved? (?:back )?(?:to|over|away)|replaced? (?:by|with)"
    r"|from (?:now|here) on|new (?:rule|plan|ceiling|limit|cap|deadline|policy|name|default|target"
    r"|standard|convention)|has (?:been )?(?:changed|moved|rotated)|have (?:been )?changed"
    r"|is (?:now|over|gone|retired|done)|are now|now (?:owns?|belongs|is|are|has|uses?|called"
    r"|lives?|goes|runs?)|we(?:'re| are) (?:now )?(?:calling|using|moving|switching)|quick update"
    r"|update:|left (?:the|us)|is enough|are enough|suffices|obsolete|outdated|overruled"
    r"|withdrawn?|cancel|undo|take (?:that |it )?back|back to|make (?:it|that)|i meant|used to"
    r"|but not (?:any)?|\b(?:we|i)(?:'re|'m|'ve| are| am| have)? (?:dropp|relax|loosen|migrat"
    r"|decid|agree|abandon|adopt|gave|giv|mov|switch|settl|reconsider)\w*|(?:decided|agreed) (?:we"
    r"|to|on|that)|convinced|(?:leave|left) (?:it|that|this|them|\w+ part) (?:out|off)"
    r"|as of (?:today|now)|from today|save (?:me|us) time|unrealistic|overkill|too (?:strict"
    r"|terse)|(?<!\bi )(?<!we )will do[.!]?$|not \w+[.!]?$|we (?:rebased|switched|moved)"
    r"|is done\b)|^(?:no|nope|wait|hmm|sorry|update|scratch)\b|\bnow(?:[.!]?$|,)|, not \b"
)
# Something is allowed, or not needed after all.
GRANT = lazy_compile(
    r"\b(?:you(?! know| see) (?:may|can)|(?!i |we |it |he |she |that "
    r"|this )\w+ (?:may(?= (?!not)\w)|is allowed to|are allowed to|can (?:now|again|be|also))"
    r"|we can (?:now|again)\b|may be\b|can be\b|(?:is|are|'s|'re|be) (?:fine|ok|okay|allowed"
    r"|all right|alright|permitted|welcome|good to go|safe|unfrozen|enough|optional|unlocked"
    r"|unblocked|cleared|released|in scope|approved)\b|(?:no|don't|do not|needn't|doesn't"
    r"|not) (?:need|have) (?:to\b|any)|needn't\b|no need\b|not (?:needed|necessary|required)"
    r"|^do (?!not\b|it\b|the\b|this\b|that\b|you\b|we\b|a\b|so\b)\w+|feel free\b|go ahead\b"
    r"|^just \w+|without asking\b|don't (?:bother|worry about)|stop \w+ing|(?:freeze|ban|embargo"
    r"|lock|moratorium) (?:is|has)|okay after all|fair game|good enough|acceptable|(?:is"
    r"|are) (?:needed|required|necessary)\b|(?:plan|draft|diff|design|proposal|list|text"
    r"|message) (?:is|looks) (?:good|great|perfect)|yours to|are welcome|you(?:'re"
    r"| are) (?:allowed|free|welcome)|i don't (?:mind|care))"
)
GOES_ON = lazy_compile(
    r"^(?:ok|okay|yes|yep|now|good|great|fine|alright|looks good|lgtm|all right)\b"
)
# That a demand is lifted or eased, in words that are said of little else.
LIFTS = lazy_compile(
    r"\byou(?:'re| are)? (?:now |again )*(?:can|may|free to|allowed|welcome)\b|\bfeel free\b"
    r"|\bgo ahead\b|\bno need\b|\byou (?:don't|do not|needn't|no longer) (?:need|have to)\b"
    r"|\bdon't bother\b|\b(?:scratch|scrap) (?:that|the|my)\b|\bforget (?:what|about|that|it)\b"
    r"|\bno longer\b|\bany ?more\b|\bchanged (?:my|our) minds?\b|\bafter all\b|\bi was wrong\b"
    r"|\bfrom (?:now|here|today)\b|\bas of (?:now|today)\b|(?:\bis|\bare|'s) (?:fine|okay"
    r"|acceptable|ok|allowed|enough)(?: to\b| for\b| here\b| again\b| too\b| as well\b| now\b"
    r"| in\b| when\b)|\bcan (?:go|come|be|stay|also|now) (?!seen|found|reproduced)\b"
    r"|\bwouldn't hurt\b|\bany (?:day|time|way|order|size|\w+ you (?:like|want))\b"
    r"|\bwhenever (?:you|we) (?:like|want)\b|\bgo for it\b|^make (?:it|that)\b|\brelax"
    r"|\btoo (?:strict|terse)\b|\bconvinced\b|\bwe (?:dropped|migrated|switched|moved|decided"
    r"|abandoned|gave up)\b|\bdecided (?:we|to)\b|\bsave (?:me|us) time\b|\bunrealistic\b"
    r"|\boverkill\b|\bleave (?:it|that|them)(?: \w+)? (?:out|off)\b|\bwe're moving to\b"
    r"|(?<!\bi )(?<!we )\bwill do[.!]?$"
)
OTHER_GRANT = lazy_compile(
    r"\b(?:ist (?:jetzt |nun )?(?:ok|okay|erlaubt|kein problem)|freigegeben|in ordnung|darfst"
    r"|dürft|kannst du (?:jetzt|ruhig)|(?:kann|können) (?:jetzt|ruhig|auch|weg)|du kannst(?! mal"
    r"| bitte| dir| mir)|geht klar|está (?:bien|permitido)|(?:se )?puedes?|vale|tu peux|(?:est"
    r"|sont) (?:permis|autorisé|d'accord)\w*|(?:está|están|é|são) permitid\w+|vous pouvez"
    r"|c'est bon|podes?|pode|tudo bem|va bene|puoi|è permesso|mag|mogen|is prima|możesz|można"
    r"|wolno|можно|можешь|разрешено|\w+[ae]bilirsin\w*|serbest|olur)\b|可以|允许|てもいい|ていい"
    r"|大丈夫|해도 ?(?:돼|됩|좋)|괜찮|يمكنك|مسموح|لا بأس"
)
# "Ten minutes is fine": an answer, where nothing is known that it allows.
OPINION = lazy_compile(r"\b(?:is|are|'s|'re) (?:\w+ )?(?:fine|ok|okay|good|enough)[.!]?$")
# Lifts and says nothing to do instead.
WITHDRAWAL = lazy_compile(
    r"\b(?:forget|scrap|drop|ignore|no longer|not .{1,40} any ?more|never ?mind|lift(?:ed)?|(?:is"
    r"|are) (?:over|done|gone|finished))\b"
)
# "Forget that rule": whatever was said last.
REFERS = lazy_compile(
    r"\b(?:(?:forget|scrap|drop|ignore|lift|cancel|withdraw|strike|skip|remove|undo"
    r"|scratch) (?:about )?(?:that|the|this|my|what) (?:last |previous |earlier |old "
    r"|first )?(?:rule|rules|instruction|constraint|restriction|condition|hold|limit|one|i said)"
    r"|(?:that|the|this) (?:last |previous )?(?:rule|restriction|constraint|hold|limit"
    r"|freeze) (?:is (?:off|over|gone|lifted|void|dead|history|obsolete|out|not|no longer)\b"
    r"|no longer|does ?n[o']t|has been)|(?:forget|scrap|scratch|strike|never ?mind) (?:that"
    r"|it)[.!]?$)"
)
FORBIDS = lazy_compile(
    r"\b(?:never|not|don't|dont|no|without|avoid|refrain|only|mustn't|can't|cannot|forbidden"
    r"|off[- ]limits|hands off|(?<!on )leave|untouched|unpushed|stop|skip|hold|wait|before you"
    r"|ask)\b"
)
# A request: done once. Such a verb first, and nothing of what a rule sounds like before it.
REQUEST = lazy_compile(
    r"^(?:(?:please|now|then|next|also|and|ok|okay|so|first|finally|can you|could you|let's"
    r"|go ahead and|just|you can|i want you to|i need you to|help me)[, ]+)*(?:add|implement|fix"
    r"|build|create|make(?! sure)|delete|remove|move|rename|refactor|update|change|write (?:an?"
    r"|the|me|some|down)|count|plan|paint|find|look|check (?:the|if|whether|why|out)|read|open"
    r"|show|run (?:the|it|this|a)|test (?:it|the|this)|install|set up|setup|push|commit|merge"
    r"|deploy|release|investigate|debug|explain|tell|draw|print|list|do|try|start (?:with|the|a|on"
    r"|by)|continue|finish|convert|migrate|generate|replace|extend|improve|clean|search|review"
    r"|analy[sz]e|summari[sz]e|compare|download|fetch|draft|design|prepare|complete|extract|split"
    r"|port|bump|upgrade|verify|give me|send|put|wire|hook|document|describe|sketch|compute"
    r"|calculate|measure|rebase|revert|undo|restore|reset|sort|rerun|repeat|translate|rewrite"
    r"|simplify|validate|enable|disable|resolve|connect|configure|adjust|tweak|tidy|optimi[sz]e"
    r"|see|get|go|take|work on|investigat\w*|proceed|begin)\b"
)
# A remark on how things are: "the page never loads", "this must not happen, please fix it".
STATUS = lazy_compile(
    r"^no,? (?!\w+ing\b)\w+ (?:those|these|that|this|it|them)\b|\b(?:right now|at the moment"
    r"|currently|instead)[,:]? (?:it|they|he|she|there|that|we get)\b|^(?:erklär|explique|explica"
    r"|spiega|leg uit|wyjaśnij|объясни|açıkla)\w*\b|说明一下|解释|説明して|^(?:never"
    r"|always) (?:seen|had|been|heard|worked|happened|got|did|the same)\b|^you (?:never"
    r"|always) \w+ed\b|^never ?mind\b|^always (?:an?|the|good|nice|happy)\b|\byou (?:should|will"
    r"|would) never (?:see|get|notice)\b|\bkeep (?:it|this|that|them) as\b|\bprefer (?:the|this"
    r"|that|your|option)\b|\bis never \w+ed?\b|[,;.] ?(?:(?:please|can you|could you|so"
    r"|and) )*(?:fix|hide|repair|correct|solve|mend|implement|look into|investigate|change"
    r"|remove) (?:it|that|this|them)\b|, (?:please )?(?:implement|fix|repair)(?: it| that)?[.!]?$"
    # In other languages: that something works or fails, and nothing else.
    r"|^(?:[^\s,]+ ){0,3}(?:funciona|fonctionne|marche|funktioniert|funziona|werkt|działa|работает"
    r"|падает|falla|échoue)\b[^,]{0,12}$|^(?:[^，。、]{0,8})(?:报错|失败|出错|エラー|에러|오류"
    r"|실패)[^，、]{0,8}$"
    # Said of a thing with its article, or of what was seen, and nobody is told to do anything.
    r"|^(?:nunca|jamás|jamais|mai|noch nie|nie|nooit) (?:hab\w+|ha|he|hemos|had\w*|avev\w+|ho"
    r"|tinha|vi|vu|gesehen|gezien|j'ai)\b|^(?:el|la|los|las|il|lo|gli|i|le|les|os?|as?|una?|de"
    r"|het) [\w-]+ (?!deb|dev|doi|moet|mag|può|pued|pode|tien|va )\w+ (?:siempre|nunca|sempre|mai"
    r"|toujours|jamais|altijd|nooit)\b|^(?:der|die|das|ein|eine|mein|meine|unser|unsere|es|er"
    r"|sie) (?:[\w-]+ ){0,3}?(?!muss|müssen|darf|dürfen|soll|sollen|bleib"
    r"|kein)\w+t (?:\w+ )?(?:nie|niemals|immer|nicht)\b|^(?:le|la|les|l'|un|une|mon|ma|ce|cette|il"
    r"|elle|ça) ?(?:[\w-]+ )*?(?:ne |n')(?!doi|peu|faut)|^(?:el|la|los|las|un|una|mi|este|esta|o|a"
    r"|os|as|um|uma|il|lo|gli|le|i) (?:[\w-]+ )+?(?:nunca|siempre|sempre|jamás|não|no|non) (?!deb"
    r"|dev[eio]|pued|può|pode|tien)\w+(?:e|a|n|ce|ona|o mai)\b|^(?:der|die|das|le|la|les|el|los"
    r"|las|il|lo|gli|i|de|het|o|os) .*\b(?:immer|nie|niemals|toujours|jamais|siempre|nunca|sempre"
    r"|mai|altijd|nooit)[.!]?$|^(?:de|het|een|mijn|ten|ta|to) (?:[\w-]+ )+?\w+t? (?:nooit"
    r"|altijd)\b|^\w+(?:а|я|о|е|т|к|р|н|ы|и) (?:никогда не|всегда) \w+(?:ет|ит|ют|ут|ят|ат|ется"
    r"|ится)\b|^\w+ (?:asla|her zaman|daima) .*yor(?:lar)?[.!]?$"
    r"|[,，。] ?(?:bitte )?(?:repariere?n?|behebe?n?|korrigiere?n?|corrige|répare|arregla"
    r"|arréglalo|corrígelo|conserta|correggi|repareer|napraw|почини|исправь|düzelt|修一下|修复"
    r"|请修|直して|修正して|고쳐|수정해|أصلح)|^(?:这个|那个|这|那|它).{1,12}(?:总是|始终|不要)"
    r"|(?:いつも|常に|絶対に).{1,20}(?:ない|ます|ません|した)。|(?:항상|절대|언제나).{1,20}(?:어요"
    r"|아요|여요|네요|습니다)"
)
# The speaker's own verb, not the agent's conduct.
SPEAKER = lazy_compile(
    r"\b(?:i|we|it|he|she|they|that|this|which|you)\s+(?:really |just |still |probably )?(?:do not"
    r"|don't|dont|cannot|can't|should not|shouldn't|didn't|doesn't|won't)\b|\b(?:don't|do not"
    r"|dont) (?:know|think|see|understand|have|mean|worry|mind|get)\b|\bif (?:we|it|i) (?:don't"
    r"|can't|cannot|do not)\b"
)
# What somebody else is said to have said, before the words themselves.
REPORTED_SPEECH = lazy_compile(
    r"(?<!\bi )(?<!\bwe )\b(?:says|said|states|stated|reads|wrote|writes|claims|claimed|insists"
    r"|warns|warned|complains|demands|tells (?:me|us|you|people))\b|\baccording to\b|\b(?:this|the"
    r"|an?|following|gets?|got) (?:\w+ ){0,2}(?<!commit )(?:error|warning|exception|message|output"
    r"|hint|notice)s?:"
)
# Diffs, tables, logs and places in files: words of a tool, not of the user.
PASTED = lazy_compile(
    r"^[+│╭╰├|$@%]|\S\.\w{1,5}:\d+|\blines? \d+|/(?:var|tmp|usr)/|[{};]\s*$|\w\(\w*\)|:=|=="
)
# Words with which a user marks a sentence: "IMPORTANT: ...". Those in capitals may mark anything.
RULE_LABEL = lazy_compile(
    r"^\W{0,3}(?:(?:one|another) (?:more |last |other )?thing to|please) (?:keep|bear|remember|note"
    r"|mind)[^:.]{0,40}:\s*(?=\S)|^\W{0,3}(?:(?:safety|hard|important|house|project|ground|one|new"
    r"|golden|strict|firm|a|my|our|another|first|user|general|basic|only|key|simple"
    r"|special) ){0,3}(?:rule|constraint|preference|requirement|limit|restriction|regel|règle|regle"
    r"|regla|regra|regola|zasada|правило|kural)(?: \w+){0,4}?\s*[:：]\s*(?=\S)|^\W{0,3}(?:important"
    r"|wichtig|importante|belangrijk|ważne|важно|önemli|remember)\s*[:：]\s*(?=\S)|^\W{0,3}(?:规则"
    r"|規則|规定|ルール|規約|규칙|قاعدة|重要|重要事项|注意|중요|مهم)\s*[:：]\s*(?=\S)"
)
NOTE_LABEL = lazy_compile(
    r"^\W{0,3}(?:FACT|NOTE|FACTS|NOTES|NB|GOAL|GOAL STATE|STATE|CONTEXT|DECISION"
    r"|TODO)\s*:\s*(?=\S)|^(?:Fact|Note|NB)\s*:\s*(?=\S)"
)
# "House rules: ..." says of its whole paragraph that it holds.
ANNOUNCES_MANY = lazy_compile(
    r"^\W*(?:\w+ ){0,4}(?:house rule|rules|conventions|guidelines|constraints|principles"
    r"|preferences|regeln|règles|reglas|regras|regole|regels|zasady|правила"
    r"|kurallar)\b[^.!?\n:：]{0,60}[:：]|^\W*(?:规则|規則|ルール|규칙|قواعد"
    r"|القواعد)\s*(?:如下)?[:：]"
)

# Other languages: only words that English has not. For each: always, never, do not, only, must,
# from now on; and what says that something changed or is allowed after all.
OTHER_STANDING = lazy_compile(
    # German
    r"\b(?:niemals|immer|ab (?:sofort|jetzt)|von (?:jetzt|nun) an|künftig|in zukunft"
    r"|ausschließlich|auf keinen fall|unter keinen umständen|grundsätzlich|keinesfalls"
    r"|bitte keine?n?|verboten|(?:vor|nach|bei) (?:jedem|jeder)|halte dich an|(?:avant|après"
    r"|à) chaque|(?:antes|después|depois) de cada|(?:prima|dopo) (?:di|della?) ogni|(?:voor|na"
    r"|bij) elke?|(?:przed|po) każd\w+|(?:перед|после) кажд\w+|nie(?= \w)|stets|darfst (?:nicht"
    r"|nie|nur)|nur (?:in|auf|mit|unter|im)\b)|^kein(?:e|en)? (?:push|commit|merge|deploy"
    r"|neue)\w*\b|\bnur\b.* ändern[.!]?$|^(?:bitte )?(?:verwende|benutze?|nutze|nimm|schreibe?"
    r"|antworte|fass|fasse|ändere?|lass)\b[^.]*\b(?:nur|nicht|nie|keine?n?|immer|auf (?:deutsch"
    r"|englisch)|überall|durchgängig)\b"
    # The language of answers, and a tool, as people say it who do not say "always"
    r"|\b(?:réponds|responde|responda|rispondi|antwoord|odpowiadaj|отвечай)(?:te)? (?:en|em|in|po"
    r"|по|на)\b|\bcevap ver\b|用[^，。]{1,3}文(?:回答|回复)|語で(?:答え|回答|返)|(?:어"
    r"|말)로 (?:대)?답|^(?:verwende|nutze|nimm|utilise|usa|use|gebruik|używaj"
    r"|используй) [\w-]+(?: \w+)?,? (?:statt|pas|no|não|non|niet|zamiast|вместо|а не|en lugar de"
    r"|em vez de|invece di)\b|^pas d(?:e |')(?:nouve|push|commit)"
    # French
    r"|\b(?:jamais|toujours|désormais|dorénavant|à partir de maintenant|uniquement|interdit"
    r"|obligatoirement|il faut que|ne (?:\w+ )?\w+ (?:pas|plus|rien))\b|\b(?:ne|n')\s?\w+ (?:pas"
    r"|jamais)\b"
    # Spanish, Portuguese, Italian
    r"|\b(?:nunca|jamás|siempre|de ahora en adelante|a partir de ahora|solamente|prohibido|debes"
    r"|sempre|de agora em diante|a partir de agora|apenas|somente|proibido|não (?:\w+ )?\w+"
    r"|d'ora in (?:poi|avanti)|mai (?=\w)|soltanto|solo (?:in|con|en)|vietato|non \w+(?:are|ere"
    r"|ire)|no (?:toques?|uses?|modifiques?|borres?|hagas?|cambies|escribas?|edites))\b"
    # Dutch, Polish, Turkish
    r"|\b(?:nooit|altijd|vanaf nu|voortaan|uitsluitend|verboden|gebruik (?:alleen|geen)"
    r"|alleen (?:in|met)|raak [^.]* niet|nigdy|zawsze|od teraz|wyłącznie|zabronion\w+|nie (?:\w+aj"
    r"|\w+uj|\w+ij|wolno|commituj|rób)|tylko|asla|daima|her zaman|bundan sonra|bundan böyle"
    r"|hiçbir zaman|sadece|yalnızca|yasak|\w+m[ae]yın|\w+m[ae]yin)\b"
    # Russian
    r"|\b(?:никогда|всегда|отныне|с этого момента|впредь|запрещено|нельзя|только|ни в коем случае"
    r"|не \w+(?:й|йте|ть|и|ите|шь))\b"
    # Chinese, Japanese, Korean, Arabic
    r"|绝不|绝对不|永远不|不要|不得|禁止|必须|务必|总是|始终|从现在起|从现在开始|以后|今后|只能"
    r"|只用|一律|請勿|请勿|決して|絶対に|常に|必ず|いつも|今後|これから|しないで|ないでください"
    r"|してはいけ|だけ使|のみ|절대|항상|언제나|앞으로|반드시|하지 ?마|금지|만 사용|지 마세요"
    r"|^(?:\S+ )?دائم[اًا]|من الآن فصاعد|ممنوع|يجب|لا ت\w+|فقط"
)
OTHER_HOLD = lazy_compile(
    r"\b(?:noch nicht|noch keine?n?|bis ich|solange ich|warte auf|erst wenn ich|pas encore"
    r"|jusqu'à ce que|avant que je|attends? (?:mon|que je|ma)|todavía no|aún no|hasta que"
    r"|espera (?:mi|a que|(?:pel)?a minha|o meu)|ainda não|até (?:que )?eu|espere|non ancora"
    r"|finché|fino a quando|aspetta|nog niet|totdat ik|wacht|jeszcze nie|dopóki|zaczekaj|poczekaj"
    r"|пока не|до тех пор|подожди|ещё не|henüz|onaylayana kadar|\w+[ae]na kadar)\b|先不要|暂时不要"
    r"|在我.{1,8}之前|等我|还不要|先别|まだ.{0,12}ない|まで(?:は)?.{0,16}ない|아직|전까지|때까지"
    r"|حتى (?:أ|ا)|ليس بعد|انتظر"
)
OTHER_HOLD_ALONE = lazy_compile(
    r"^(?!.*\b(?:hab\w*|hat\w*|wurde\w*|ist|sind|bin|war\w*)\b).*\bnoch (?:nichts?"
    r"|keine?n?(?: \w+)?) \w+e?n(?:(?: bitte)?[.!]?$|,)|^(?:bitte )?(?!habe|sehe|finde|verstehe"
    r"|weiß)\w{3,}e (?:bitte )?noch (?:nichts?|keine?n?(?: \w+)?)[.!]?$"
    r"|^(?:bitte )?erst (?:mal )?(?:(?:den|die|das) \w+ )?(?:zeigen|fragen|abwarten|planen)\b"
    r"|^(?:bitte )?wart(?:e|et|en sie)\b.*\bbis\b|\b(?:nichts|keine?n?) .*\bbis ich\b"
    r"|\bwarte auf mein|先不要|先别|暂时不要|\bне \w+ пока\b|\bпока не \w+(?:й|йте|ть|и|ите)\b"
    r"|\bне \w+,? пока (?:я )?не\b|等我.{1,12}再|\b(?:avant|sans) mon (?:accord|feu vert|aval)\b"
    r"|\bantes de (?:mi|que yo|meu|minha)\b|\bnão \w+ .*\bainda\b|قبل مواف|\bjeszcze nie \w+(?:aj"
    r"|uj|ij)\b|\bnog niet \w+en\b|\bne \w+ pas encore\b|\btodavía no \w+(?:es|as)\b"
    r"|\bno \w+ .*\b(?:todavía|aún)\b|\bainda não \w+|^attends? (?:mon|ma|que je)\b"
    r"|^esperar? (?:a que|mi|(?:pel)?a minha|o meu)\b|^aspetta (?:che|il mio)\b"
    r"|^wacht (?:met\b.*\b)?(?:op mijn|tot ik)\b|^(?:commit|push|merge|deploy|verwijder|wijzig"
    r"|verander|publiceer|doe)\b.*\bnog (?:niet|niets|geen)\b|^espere? (?:que eu|minha)\b"
    r"|\bno \w+(?:es|as)\b(?: .*)? hasta que\b|\bnon \w+are ancora\b"
    r"|\bhenüz (?:\w+ ){0,3}\w+m[ae]\b|\w+[ae]na kadar\b.*m[ae][.!]?$|まだ.{1,16}ないで"
)
OTHER_CHANGE = lazy_compile(
    r"\b(?:anders überlegt|changé d'avis|cambi(?:é|ado) de (?:idea|opinión)|mudei de ideia"
    r"|cambiato idea|van gedachten veranderd|zmienił[ae]m zdanie|передумала?|fikrimi değiştir|doch"
    r"|lieber|stattdessen|statt|nicht mehr|vergiss|ab (?:sofort|jetzt)|von jetzt an"
    r"|darfst(?: \w+)? (?:jetzt|wieder|du)|du darfst|ist (?:jetzt|nun)|brauchst (?:du )?nicht"
    r"|jetzt|künftig|erlaubt|finalement|plutôt|désormais|au lieu|plus besoin|tu peux|vous pouvez"
    r"|oublie|ne .{1,30} plus|mejor|en vez|en lugar|ya no|olvida|puedes|ya puedes|ahora"
    r"|a partir de ahora|de ahora en|em vez|na verdade|agora|pode[s]? |esque[cç]e|esqueça"
    r"|não precisa|invece|anzi|non più|adesso|d'ora in|puoi|ora |dimentica|toch|liever|in plaats"
    r"|niet meer|voortaan|vanaf nu|mag (?:je )?nu|je mag|vergeet|jednak|zamiast|już nie|od teraz"
    r"|możesz|zapomnij|teraz|лучше|вместо|больше не|теперь|можно|можешь|забудь|с этого момента"
    r"|отныне|всё-таки|artık|yerine|bundan sonra|boşver|unut|\w+ebilirsin\w*|\w+abilirsin\w*"
    r"|serbest)\b|改成|改为|改用|不再|还是|不对|而不是|现在可以|可以了|不用再|忘了|取消|从现在"
    r"|やっぱり|代わりに|もう.{0,12}(?:ない|いい|なく)|ではなく|じゃなくて|今後|これから|変更"
    r"|てもいい|ても良い|てよい|していい|대신|이제|말고|더 이상|앞으로|취소|해도 (?:돼|됩|좋)|بل"
    r"|بدل[اًا]|الآن|لم يعد|يمكنك|انس|改主意|気が変わ|생각이 바뀌|아니다|غيرت رأيي"
)
EXPLICIT_CHANGE = lazy_compile(
    r"\b(?:forget|scrap|no longer|any ?more|changed? (?:my|our) mind|instead|from (?:now|here) on"
    r"|update|has (?:been )?(?:changed|moved|rotated)|now (?:owns?|belongs|called)|we(?:'re"
    r"| are) (?:now )?calling|moved to|switched|correction|i was wrong|rather|new (?:rule|ceiling"
    r"|limit|cap))\b|\bnow[.!]?$"
)
