"""What rules speak of, in the words of users, and the commands, files and texts that are meant.

Data alone: `guards` reads a sentence with it.
"""

# Actions by the words that name them, and the programs that projects use.
EDITING = (
    r"(?:touch|edit|chang|modif|alter|writ|updat|delet|remov|renam|mov|overwrit|reformat|rewrit"
    r"|refactor|mess with|add (?:\w+ ){0,2}to)(?:e|es|ed|s|ing|y|ying|ies|ied|ten)?\b"
)
TESTS = "tests test spec __tests__ test_*.* *_test.* *.test.* *.spec.*"
WORDS_OF_TABLE = {
    "TESTS": TESTS,
    "SECRET_FILE": r"\.env|[\w-]+\.(?:env|pem|key|json|ya?ml|toml|txt)",
    "ANY": r"(?:any|the|our|a|an|existing|all|those|these)",
    "EDITING": EDITING,
    "LIBRARIES": r"(?:dependenc(?:y|ies)|packages?|librar(?:y|ies)|libs?|deps|crates?|gems?"
    r"|(?:npm|node|go|new|external|third[- ]party) modules?|pip installs?)\b(?! ?(?:manager|json"
    r"|lock|names?|versions?))",
    "ADJECTIVE": r"(?:any|an?|the|new|more|other|further|external|additional|extra|third[- ]party"
    r"|runtime|python|npm|node|go|rust|ruby|cargo|pip|pnpm|yarn|composer|maven|unit|full"
    r"|dev(?:elopment)?|local|web|up|long[- ]running)",
    "INSTALLS": "npm+install+~ npm+i+~ npm+add+~ pnpm+add pnpm+install+~ pnpm+i+~ yarn+add bun+add"
    " bun+install+~ bun+i+~ deno+add pip+install+~ pip3+install+~ uv+add uv+pip+install+~"
    " pipx+install poetry+add pipenv+install+~ conda+install cargo+add cargo+install go+get"
    " go+install"
    " gem+install bundle+add composer+require dotnet+add apt+install apt-get+install brew+install",
}
# What is forbidden, by the first words of it; behind that the kind of guard and what it holds.
ACTION_TABLE = r"""
(?:throw\w* away|discard|drop|los|overwrit|revert|undo|wip)\w* .*(?:changes|edits|work)\b
    run git+checkout+~-- git+checkout+~. git+checkout+~-f git+restore+~^--staged git+reset+~--hard
    git+clean git+stash+drop git+stash+clear
(?:(?:add|put|includ\w+|leave) )?(?:ANY )*(?:co-?author\w*|generated with|ai credits?)\b
    inside co-authored-by generated+with
EDITING (?:ANY |my )*git config\w*\b  =>  run git+config+~+~^--get+~^--list+~^-l
(?:commit|stag|check)\w* (?:in )?(?:ANY |my )*`?(?P<name>\.env|[\w./-]*[./][\w/-]+|node_modules)\b
    run git+add+~/NAME git+commit+~/NAME
(?:read|open|cat|print|view|show|look)\w* (?:at |in |into )?(?:ANY |my )*`?(?P<name>SECRET_FILE)\b
    run cat+~/NAME less+~/NAME head+~/NAME tail+~/NAME grep+~/NAME sed+~/NAME source+~/NAME
global (?:npm )?install\w*|install\w* (?:ANY |anything |packages )*globally
    run npm+install+~-g npm+i+~-g npm+install+~--global pnpm+add+~-g yarn+global pip+install
(?:bump|chang|updat)\w* (?:ANY )*versions?\b(?! of)
    run npm+version poetry+version cargo+set-version bump2version bumpversion hatch+version
mention\w* (?:claude|ai|yourself|that you)\b.*\bcommit
    inside co-authored-by generated+with claude+code
commit(?:s|ted|ting)?\b(?! (?:messages?|[`.]|[\w-]+\.))  =>  run git+commit
force[- ]?push(?:es|ing)?\b|push(?:es|ing)? (?:with )?(?:--)?force
    run git+push+~-f git+push+~--force git+push+~--force-with-lease
push(?:es|ed|ing)?\b(?! notification)  =>  run git+push
rebas(?:e|es|ing)\b  =>  run git+rebase
amend(?:s|ing)?\b  =>  run git+commit+~--amend
squash(?:es|ing)?\b  =>  run git+merge+~--squash git+rebase
cherry[- ]?pick(?:s|ing)?\b  =>  run git+cherry-pick
merg(?:e|es|ed|ing)\b(?! conflict)  =>  run git+merge gh+pr+merge
stash(?:es|ing)?\b  =>  run git+stash
reset(?:ting)? (?:the )?(?:branch|repo|head)\b|hard[- ]reset  =>  run git+reset
(?:switch(?:ing)?|check(?:ing)? out)$
    run git+checkout+~^-- git+switch
(?:switch|chang|check(?:ing)? out|leav)(?:e|ing)? (?:ANY |to |this )*(?:branch(?:es)?|others?)\b
    run git+checkout+~^-- git+switch
(?:delet|remov)\w* (?:the |any |a |remote |old )*branch(?:es)?\b
    run git+branch+~-d git+branch+~-D git+push+~--delete
branch(?:es)?\b|branching\b  =>  run git+branch+~ git+checkout+~-b git+switch+~-c
(?:(?:open|rais|submit|fil)\w* (?:any |a |new )*)?(?:pr|prs|pull requests?|merge requests?)\b
    run gh+pr+create glab+mr+create
(?:clos|comment)\w* (?:on )?(?:the |any )*(?:pr|prs|pull requests?|issues?)\b
    run gh+pr+close gh+pr+comment gh+issue+close gh+issue+comment
(?:push(?:ing)? )?tags?\b|tagging\b  =>  run git+tag+~+~^--list+~^-l+~^-n git+push+~--tags
(?:upgrad|updat|bump)\w* (?:any |the |our )*LIBRARIES
    run npm+update npm+upgrade pnpm+update pnpm+up yarn+upgrade yarn+up bun+update
    pip+install+~-U pip+install+~--upgrade uv+lock+~-U uv+lock+~--upgrade poetry+update
    cargo+update bundle+update composer+update go+get+~-u
(?:(?:add|install|bring|introduc|pull|includ)\w* (?:in )?)?(?:ADJECTIVE )*LIBRARIES
    run INSTALLS
install\w*\b(?= (?:anything|globally|things|stuff|new)\b|$)  =>  run INSTALLS
(?:start )?migrations?\b|migrat(?:e|ing)\b
    does migrate alembic+upgrade migration:run flyway liquibase prisma+db+push ef+database+update
seed(?:s|ing)?\b  =>  does seed
(?:run\w* |the |our )*(?:whole|full|entire|complete|all) (?:of |the )*(?:test )?(?:suite|tests)\b
    run pytest+~! uv+run+pytest+~! poetry+run+pytest+~!
    npm+test+~! npm+run+test+~! pnpm+test+~! yarn+test+~! bun+test+~! cargo+test+~!
    cargo+nextest+run+~! go+test+~./... make+test make+check jest+~! vitest+~! tox nox mvn+test
    gradle+test rspec+~!
(?:start )?(?:ADJECTIVE )*(?:e2e|end-to-end|browser) (?:tests?|suite)\b
    does playwright+test cypress+run e2e end-to-end
(?:start )?(?:ADJECTIVE )*(?P<name>integration|load|smoke) (?:tests?|suite)\b
    does NAME
(?:start )?(?:ADJECTIVE )*(?:tests?\b(?! (?:files?|cases?|data|names?|code|coverage))|suite\b)
    run pytest uv+run+pytest poetry+run+pytest npm+test
    npm+t npm+run+test pnpm+test yarn+test bun+test go+test playwright+test cypress+run cargo+test
    cargo+nextest make+test make+check jest vitest tox nox mvn+test gradle+test rspec
EDITING (?:ANY |of )*tests?\b(?! \w)
    leave TESTS
EDITING (?:ANY |of |db |database |applied )*migrations?\b(?! \w)
    leave migrations migrate versions
(?:delet|remov)\w* (?:ANY |of |my |existing )*(?:files?|anything|folders?|director(?:y|ies))\b
    run rm git+rm rmdir unlink find+~-delete
(?:renam|mov)\w* (?:ANY |of |my |existing )*(?:files?|anything|folders?|director(?:y|ies))\b
    run mv git+mv
(?:(?:creat|add|writ|mak|introduc)\w* )?(?:ANY )*(?:new|extra|additional|more) (?:source )?files?\b
    creates *
deploy(?:s|ed|ing|ments?)?\b
    does deploy kubectl+apply helm+upgrade helm+install vercel+--prod
releas(?:e|es|ing)\b  =>  does gh+release+create npm+publish release.sh make+release
sudo\b|as root\b  =>  inside sudo+
(?:rewrit\w* )(?:the |any )*history\b
    run git+rebase git+commit+~--amend git+filter-branch git+push+~--force git+push+~-f
git(?: (?:operations?|commands?|actions?|anything|stuff)\b|$)
    run git+commit git+push git+add git+checkout git+switch git+reset git+rebase git+merge
    git+stash git+branch+~ git+tag+~
(?:drop|truncat)(?:e|ing|ping)? (?:any |the |a )*(?:tables?|databases?)\b
    inside drop+table drop+database truncate+table dropdb
(?:start|run|stop|restart|kill|launch)\w* (?:ADJECTIVE )*(?:servers?|watchers?|process\w* like)\b
    inside npm+run+dev npm+start yarn+dev pnpm+dev pnpm+run+dev runserver uvicorn systemctl+
    pkill kill+
(?:start|run|launch)\w* (?:ANY |dev |web )*(?:server|app|application|frontend|backend|site)(?:$|,)
    inside npm+run+dev npm+start yarn+dev yarn+start pnpm+dev pnpm+start bun+run+dev runserver
    uvicorn flask+run rails+s next+dev
(?:start|run|launch)\w* (?:ADJECTIVE )*(?:docker )?containers?\b
    run docker+run docker+start docker+compose+up docker-compose+up podman+run podman+start
restart\w*\b  =>  does restart
(?:kill|stop|terminat)\w* (?:any |the |running |other )*process  =>  run kill pkill killall
publish(?:es|ing)?\b
    run npm+publish cargo+publish twine+upload uv+publish poetry+publish pnpm+publish
    yarn+publish gem+push
(?:auto-?)?format(?:ting)? (?:the |any |whole |entire )*(?:code|repo|files?|anything|everything)
    run prettier black ruff+format gofmt rustfmt cargo+fmt npm+run+format
download\w*\b|(?:hit|access)\w* the (?:network|internet)\b|network (?:calls?|requests?|access)\b
    run curl wget
sleep(?:s|ing)?\b(?:\(\))?(?=$| in| to| for)  =>  run sleep
(?:delet|remov|updat)\w* (?:ANY )*(?:rows?|records?|data from)\b
    inside delete+from truncate+table drop+table
(?:call|hit|us|access)\w* (?:ANY |live |real )*(?!api|prod|live)(?P<name>[\w-]+) api\b
    does NAME.
console[. ]logs?\b(?: statements?| calls?)?  =>  writes console.log
print(?:s|\(\)| statements?| calls?)?(?=$| (?:in|for|anywhere|here)\b)  =>  writes print( println
debug(?:ging)? (?:prints?|output|statements?|logs?|logging)\b
    writes console.log console.debug print( debugger breakpoint( dbg!( var_dump(
debuggers?\b(?: statements?)?  =>  writes debugger
(?:todos|todo comments?|fixmes?)\b  =>  writes TODO FIXME
inline styl(?:es?|ing)\b  =>  writes style={ style=
(?:wildcard|star|glob) imports?\b  =>  writes import+*
(?:comments? like )?`?(?P<name>eslint-disable|noqa|nolint|istanbul ignore|rubocop:disable)
    writes NAME
hard-?cod\w* (?:ANY )*`?(?P<name>localhost|127\.0\.0\.1)  =>  writes NAME
var\b(?=$|,| (?:in|anywhere|for|at|here))  =>  writes in:.js,.jsx,.ts,.tsx var+
`?(?P<name>moment|lodash|axios|underscore|bluebird|ramda|requests|numpy|pandas)(?:\.js)?\b(?=$|\W)
    writes 'NAME "NAME import+NAME from+NAME
default exports?\b  =>  writes export+default
type[: ]ignores?\b  =>  writes type:+ignore
(?:non-null assertions?)\b  =>  writes !.
(?:bare|naked) excepts?\b  =>  writes except:
lambdas?\b  =>  writes lambda
class components?\b  =>  writes extends+React.Component extends+Component extends+PureComponent
relative imports?\b  =>  writes from+.
(?:`?any`? types?|(?:type |types? of )`?any`?)\b  =>  writes any
eval\b  =>  writes eval(
(?:dangerously ?set ?)?inner ?html\b  =>  writes innerHTML dangerouslySetInnerHTML
jquery\b  =>  writes jQuery $( jquery
emojis?\b(?!.*commit)  =>  writes emoji
em[- ]dash(?:es)?\b  =>  writes —
(?:code|inline) comments?\b|comments? (?:in|to) (?:ANY )*code\b  =>  writes #
lint(?:ers?|ing)?\b  =>  run eslint npx+eslint npm+run+lint ruff+check flake8 pylint golangci-lint
build(?:s|ing)?\b
    run npm+run+build pnpm+build yarn+build cargo+build go+build make+build docker+build
commands?\b(?=$| (?:yet|at all|without|before|in|on))  =>  run *
"""

# Programs that a project uses one of, and others that a sentence may name.
RIVALS = (
    ("npm", "pnpm", "yarn", "bun"),
    ("pip", "uv", "poetry", "pipenv", "conda"),
    ("docker", "podman"),
    ("jest", "vitest", "mocha"),
    ("pytest", "unittest", "nose"),
    ("black", "ruff", "yapf"),
    ("make", "just"),
)
PROGRAMS = frozenset(program for family in RIVALS for program in family).union(
    """sudo grep rg fd git gh rm mv sed curl wget npx node python python3 cargo go terraform tofu
    kubectl helm ansible-playbook aws gcloud
    az psql mysql sqlite3 redis-cli mongo systemctl kill pkill killall chmod chown ssh scp
    rsync tox nox eslint prettier
    tsc webpack vite gradle mvn bazel rake bundle gem composer php artisan alembic flyway
    prisma django-admin mypy flake8
    heroku vercel fly apt apt-get brew crontab pip3 docker-compose find xargs awk perl tee dd
    shutdown reboot""".split()
)
# Said without meaning the program.
ALSO_WORDS = frozenset("make just go find at time node perl black nose fly".split())
SAME_PROGRAM = {
    "pip": "pip pip3",
    "npm": "npm npx",
    "apt": "apt apt-get",
    "docker": "docker docker-compose",
    "kill": "kill pkill killall",
}
_VENDORED = "vendor third_party node_modules"
_GENERATED = "generated gen __generated__ *.generated.* *.pb.* *_pb2.*"
NAMED_FILES = {
    **dict.fromkeys(("vendored", "vendor code", "third-party code", "third_party code"), _VENDORED),
    **dict.fromkeys(("generated code", "generated files", "generated source"), _GENERATED),
    **dict.fromkeys(("snapshots", "golden files"), "__snapshots__ snapshots golden *.snap"),
    "lockfile": "package-lock.json pnpm-lock.yaml yarn.lock bun.lock Cargo.lock uv.lock poetry.lock"
    " Gemfile.lock go.sum",
    "the readme": "README.md README.rst README",
    "the changelog": "CHANGELOG.md",
    "ci config": ".github/workflows .gitlab-ci.yml .circleci",
    "workflows": ".github/workflows",
}
# What a whole sentence demands, without a word that forbids.
DEMANDS = (
    (
        r"\b(?:standard library|stdlib) only\b|\bdependency[- ]free\b|\b(?:stick|stay) (?:with"
        r"|to) (?:the )?(?:dependenc|librar|packages|deps)|\b(?:only|stick to"
        r"|keep to) (?:use )?(?:the )?(?:standard library|stdlib)\b",
        "run",
        WORDS_OF_TABLE["INSTALLS"],
    ),
    (r"\bstay on (?:this|the current|the same) branch\b", "run", "git+checkout+~^-- git+switch"),
    (
        r"\b(?:outside|leave) (?:of )?(?:the|this|our) (?:repo(?:sitory)?|project|workspace)\b",
        "only",
        ".",
    ),
    (
        r"\b(?:typescript only|only typescript|everything (?:is |stays )?in typescript"
        r"|all (?:new )?(?:code|files) in typescript)\b",
        "endings",
        ".js .jsx .mjs .cjs",
    ),
)
SHORT_OPTIONS = {"--no-verify": "git+commit+~-n"}
FILE_KINDS = {
    name: endings.strip()
    for row in """
        javascript js: .js .jsx .mjs .cjs | typescript ts: .ts .tsx | python py: .py | java: .java
        bash shell: .sh .bash | kotlin: .kt | scala: .scala | go: .go | rust: .rs | c: .c .h
        c++: .cpp .cc .hpp | ruby: .rb | php: .php | perl: .pl | lua: .lua | powershell: .ps1
        jsx: .jsx | tsx: .tsx | markdown md: .md | docs documentation: .md .rst
        notebook notebooks: .ipynb | readme: readme.md | yaml: .yaml .yml | json: .json
        toml: .toml | ini: .ini | xml: .xml
        csv: .csv | sql: .sql | html: .html | css: .css | scss: .scss
        """.replace("\n", "|").split("|")
    for names, _, endings in [row.partition(":")]
    for name in names.split()
}
# Of these a file or its writing must be named: they are spoken of otherwise.
ALSO_TALK = frozenset(
    "go c json html css markdown md docs documentation readme yaml sql csv toml xml ini".split()
)
PROTECTED = frozenset("main master develop production prod release staging trunk".split())
# In which files a text is not to be written.
SCOPES = {
    **FILE_KINDS,
    **dict.fromkeys(("jsx", "tsx", "react"), ".jsx .tsx"),
    "code": ".py .js .jsx .ts .tsx .go .rs .java .c .h .cpp .cs .rb .php .sh .kt .swift .css",
}
