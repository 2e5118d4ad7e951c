"""Rules that remind: calls that a sentence of the user's speaks against, and calls that it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.events import Origin, UserSaid
from holdfast.fastpath.guards import Guard, decode_guards, list_changes, split_commands
from holdfast.state import EMPTY_STATE, fold
from holdfast.state.guards import find_forbidden, read_guards
from holdfast.state.rules import list_standing

PROJECT = "/home/dev/shop"
EDIT, RUN = "edit", "run"
Call = tuple[str, ...]  # of an edit the file and the text that it brings in, of a run the command

# ruff: noqa: E501  a table reads better in rows
# The user's sentence, a call that breaks it, and one that does not.
BANK: list[tuple[str, Call, Call]] = [
    ("Only edit files below src/.", (EDIT, "docs/guide.md"), (EDIT, "src/app/main.py")),
    ("Please only touch files in packages/api/.", (EDIT, "packages/web/a.ts"), (EDIT, "packages/api/a.ts")),
    ("Restrict your changes to lib/parser/ for now.", (EDIT, "lib/emit/x.rs"), (EDIT, "lib/parser/x.rs")),
    ("Stay inside services/billing/, nothing else.", (EDIT, "services/mail/m.go"), (EDIT, "services/billing/b.go")),
    ("Don't touch db/legacy.", (EDIT, "db/legacy/schema.sql"), (EDIT, "db/new/schema.sql")),
    ("Never edit generated/client.ts by hand.", (EDIT, "generated/client.ts"), (EDIT, "src/client.ts")),
    ("Do not modify package-lock.json.", (EDIT, "package-lock.json"), (EDIT, "package.json")),
    ("Leave config/settings.yaml as it is.", (EDIT, "config/settings.yaml"), (EDIT, "config/local.yaml")),
    ("Keep `Makefile.am` untouched please.", (EDIT, "Makefile.am"), (EDIT, "main.c")),
    ("Hands off infra/terraform/.", (EDIT, "infra/terraform/vpc.tf"), (EDIT, "infra/ansible/a.yml")),
    ("The vendor folder is off limits, don't change the vendor folder.", (EDIT, "vendor/x.go"), (EDIT, "cmd/x.go")),
    ("No changes to tests/fixtures/ in this task.", (EDIT, "tests/fixtures/a.json"), (EDIT, "tests/test_a.py")),
    ("You must not rewrite .env.production.", (EDIT, ".env.production"), (EDIT, "src/env.py")),
    ("migrations/ is read-only.", (EDIT, "migrations/0001.sql"), (EDIT, "src/models.py")),
    ("Don't change anything yet, first explain.", (EDIT, "src/a.py"), (RUN, "git diff")),
    ("Show me the plan before you change anything.", (EDIT, "src/a.py"), (RUN, "ls src")),
    ("No code changes until I say go.", (EDIT, "src/a.py"), (RUN, "pytest -q")),
    ("Don't commit yet.", (RUN, "git commit -m 'wip'"), (RUN, "git status")),
    ("Please don't commit anything.", (RUN, "git add -A && git commit -qm x"), (RUN, "git add -A")),
    ("Never commit without asking me.", (RUN, "git -c user.name=a commit -m x"), (RUN, "git log -1")),
    ("Ask before committing.", (RUN, "git commit --amend"), (RUN, "git show HEAD")),
    ("Hold off on committing until review.", (RUN, "cd app; git commit -m x"), (RUN, "git diff --stat")),
    ("No commits in this session.", (RUN, "git commit -am y"), (RUN, "echo commit")),
    ("Never push to main.", (RUN, "git push origin main"), (RUN, "git push origin feature/x")),
    ("Do not push directly to master.", (RUN, "git push origin HEAD:master"), (RUN, "git fetch origin master")),
    ("Never push in this session.", (RUN, "git push"), (RUN, "git pull")),
    ("Don't push until CI is green.", (RUN, "git push -u origin x"), (RUN, "gh run list")),
    ("Never force-push.", (RUN, "git push --force origin x"), (RUN, "git push origin x")),
    ("Don't rebase this branch.", (RUN, "git rebase main"), (RUN, "git merge-base main HEAD")),
    ("Please don't amend commits.", (RUN, "git commit --amend --no-edit"), (RUN, "git commit -m next")),
    ("Do not merge anything.", (RUN, "gh pr merge 12"), (RUN, "gh pr view 12")),
    ("Never use git reset here.", (RUN, "git reset --hard HEAD~1"), (RUN, "git restore --staged a")),
    ("Don't switch branches.", (RUN, "git checkout develop"), (RUN, "git branch --show-current")),
    ("Do not open a PR yet.", (RUN, "gh pr create --fill"), (RUN, "gh pr list")),
    ("Don't stash my changes.", (RUN, "git stash"), (RUN, "git diff")),
    ("No new dependencies.", (RUN, "npm install left-pad"), (RUN, "npm install")),
    ("Don't add any new packages.", (RUN, "pip install requests"), (RUN, "pip list")),
    ("Do it without adding dependencies.", (RUN, "cargo add serde"), (RUN, "cargo build")),
    ("Never install new libraries without asking.", (RUN, "uv add httpx"), (RUN, "uv run pytest")),
    ("No third-party packages please.", (RUN, "go get github.com/x/y"), (RUN, "go build ./...")),
    ("Use pnpm here.", (RUN, "npm test"), (RUN, "pnpm test")),
    ("We use yarn, not npm.", (RUN, "npm run build"), (RUN, "yarn build")),
    ("Always use uv instead of pip.", (RUN, "pip install -e ."), (RUN, "uv pip list")),
    ("Use podman rather than docker.", (RUN, "docker compose up"), (RUN, "podman ps")),
    ("Never run migrations.", (RUN, "python manage.py migrate"), (RUN, "python manage.py check")),
    ("Don't run database migrations on your own.", (RUN, "alembic upgrade head"), (RUN, "alembic history")),
    ("Do not run `make clean`.", (RUN, "make clean"), (RUN, "make all")),
    ("Never run `terraform apply`.", (RUN, "terraform apply -auto-approve"), (RUN, "terraform plan")),
    ("Don't run the tests, they take an hour.", (RUN, "pytest tests"), (RUN, "ruff check")),
    ("Please don't use sudo.", (RUN, "sudo apt-get update"), (RUN, "id")),
    ("Don't deploy anything.", (RUN, "./scripts/deploy.sh staging"), (RUN, "./scripts/build.sh")),
    ("Never drop tables.", (RUN, "psql -c 'DROP TABLE users'"), (RUN, "psql -c 'SELECT 1'")),
    ("Don't publish it.", (RUN, "npm publish"), (RUN, "npm pack")),
    ("Before you run a command, wait for my go-ahead; ask before you run any command.", (RUN, "ls"), (EDIT, "a.py")),
    ("No JavaScript files, TypeScript only.", (EDIT, "src/a.js"), (EDIT, "src/a.ts")),
    ("Don't create new markdown files.", (EDIT, "NOTES.md"), (EDIT, "notes.py")),
    ("Never write shell scripts for this.", (EDIT, "tools/run.sh"), (EDIT, "tools/run.py")),
    ("Don't make any documentation files.", (EDIT, "docs/x.md"), (EDIT, "src/x.c")),
    ("Do not touch `src/core/engine.py` or src/core/loop.py.", (EDIT, "src/core/loop.py"), (EDIT, "src/core/io.py")),
    ("Avoid editing legacy/*.", (EDIT, "legacy/old.py"), (EDIT, "modern/new.py")),
    ("Don't start the dev server.", (RUN, "npm run dev"), (RUN, "npm run lint")),
    ("Don't create tags.", (RUN, "git tag v1.2"), (RUN, "git describe")),
    # The same in other words, written before the tables knew them.
    ("You may only change things in apps/mobile/, the rest belongs to another team.", (EDIT, "apps/web/index.ts"), (EDIT, "apps/mobile/App.tsx")),
    ("All edits must stay within crates/core/.", (EDIT, "crates/cli/src/main.rs"), (EDIT, "crates/core/src/lib.rs")),
    ("Nothing outside of `server/handlers/` may be changed.", (EDIT, "server/main.go"), (EDIT, "server/handlers/a.go")),
    ("Please keep your hands off the proto/ directory, it is generated.", (EDIT, "proto/user.proto"), (EDIT, "api/user.go")),
    ("Do not edit schema.prisma.", (EDIT, "prisma/schema.prisma"), (EDIT, "src/db.ts")),
    ("Don't write to data/raw/, it is our source of truth.", (EDIT, "data/raw/a.csv"), (EDIT, "data/clean/a.csv")),
    ("The file src/legacy/pricing.py must not be changed.", (EDIT, "src/legacy/pricing.py"), (EDIT, "src/pricing.py")),
    ("third_party/ is off-limits.", (EDIT, "third_party/zlib/z.c"), (EDIT, "src/z.c")),
    ("Please leave the tests/golden/ files alone.", (EDIT, "tests/golden/out.txt"), (EDIT, "tests/test_out.py")),
    ("CHANGELOG.md is not to be touched, the release script writes it.", (EDIT, "CHANGELOG.md"), (EDIT, "README.md")),
    ("Never delete anything in backups/.", (RUN, "rm -rf backups/2026"), (RUN, "ls backups")),
    ("You must never modify the files under .github/workflows/.", (EDIT, ".github/workflows/ci.yml"), (EDIT, ".github/CODEOWNERS")),
    ("I don't want you to touch webpack.config.js.", (EDIT, "webpack.config.js"), (EDIT, "src/index.js")),
    ("Work exclusively in docs/.", (EDIT, "src/a.py"), (EDIT, "docs/a.md")),
    ("Make changes only in the frontend folder.", (EDIT, "backend/a.py"), (EDIT, "frontend/a.ts")),
    ("pyproject.toml stays as it is.", (EDIT, "pyproject.toml"), (EDIT, "setup.cfg")),
    ("Don't make edits in core/ without checking with me first.", (EDIT, "core/x.py"), (EDIT, "plugins/x.py")),
    ("No pushing to main, ever.", (RUN, "git push origin main"), (RUN, "git push origin topic")),
    ("You're not allowed to commit.", (RUN, "git commit -m 'x'"), (RUN, "git status")),
    ("I'll do the commits myself.", (RUN, "git commit -am 'x'"), (RUN, "git diff")),
    ("Leave committing to me.", (RUN, "git commit -m x"), (RUN, "git add -p")),
    ("Always ask me before you push.", (RUN, "git push"), (RUN, "git fetch")),
    ("Check with me before committing anything.", (RUN, "git commit -m x"), (RUN, "git log")),
    ("Do not use git stash, ever.", (RUN, "git stash pop"), (RUN, "git diff")),
    ("Never run git reset --hard.", (RUN, "git reset --hard origin/main"), (RUN, "git reset HEAD a.py")),
    ("Please do not create any new branches.", (RUN, "git checkout -b fix/x"), (RUN, "git checkout fix")),
    ("Don't force push to this branch.", (RUN, "git push -f origin HEAD"), (RUN, "git push origin HEAD")),
    ("Don't merge the PR, I will.", (RUN, "gh pr merge 5 --squash"), (RUN, "gh pr checks 5")),
    ("Never commit directly to master.", (RUN, "git commit -m x"), (RUN, "git log master")),
    ("No git commits until I have reviewed the diff.", (RUN, "git commit -m x"), (RUN, "git diff")),
    ("Never use --no-verify.", (RUN, "git commit --no-verify -m x"), (RUN, "git commit -m x")),
    ("Don't skip the hooks with --no-verify when committing.", (RUN, "git commit --no-verify -m x"), (RUN, "git status")),
    ("Please don't pull in any additional dependencies.", (RUN, "npm i lodash"), (RUN, "npm ci")),
    ("Stick to the standard library, no external packages.", (RUN, "pip install attrs"), (RUN, "python -m pytest")),
    ("You can't add new crates.", (RUN, "cargo add tokio"), (RUN, "cargo test")),
    ("We don't install anything globally here.", (RUN, "npm install -g typescript"), (RUN, "npm ci")),
    ("Don't upgrade any dependencies.", (RUN, "npm update"), (RUN, "npm ls")),
    ("No new gems.", (RUN, "gem install rake"), (RUN, "bundle exec rake")),
    ("Zero new dependencies, please.", (RUN, "yarn add react"), (RUN, "yarn build")),
    ("This repo uses bun, so no npm commands.", (RUN, "npm run test"), (RUN, "bun test")),
    ("Use `uv run pytest`, never plain pytest.", (RUN, "pytest -q"), (RUN, "uv run pytest -q")),
    ("Never run rm -rf.", (RUN, "rm -rf build"), (RUN, "rm a.txt")),
    ("Don't execute `kubectl delete` on anything.", (RUN, "kubectl delete pod x"), (RUN, "kubectl get pods")),
    ("Do not restart the database container.", (RUN, "docker restart db"), (RUN, "docker ps")),
    ("Package manager is pnpm, do not use npm or yarn.", (RUN, "yarn install"), (RUN, "pnpm install")),
    ("Don't call the production API with curl.", (RUN, "curl https://api.shop.com/v1"), (RUN, "ls")),
    ("Never seed the database.", (RUN, "npm run db:seed"), (RUN, "npm run db:check")),
    ("Please don't run the linter with --fix.", (RUN, "eslint --fix src"), (RUN, "eslint src")),
    ("Don't run `npm run build`, it breaks the watcher.", (RUN, "npm run build"), (RUN, "npm test")),
    ("Don't use docker for this.", (RUN, "docker build ."), (RUN, "make")),
    ("Run the tests with make test, not pytest directly.", (RUN, "pytest tests/"), (RUN, "make test")),
    ("Never terraform destroy.", (RUN, "terraform destroy"), (RUN, "terraform plan")),
    ("Please refrain from running the full test suite.", (RUN, "pytest"), (RUN, "ruff check")),
    ("Do not kill any processes.", (RUN, "kill -9 123"), (RUN, "ps aux")),
    ("Don't download anything from the internet.", (RUN, "wget https://x.y/z.tar.gz"), (RUN, "ls")),
    ("No .js files, everything in TypeScript.", (EDIT, "src/util.js"), (EDIT, "src/util.ts")),
    ("Please write no Python for this, Go only.", (EDIT, "tools/gen.py"), (EDIT, "tools/gen.go")),
    ("Don't add YAML files.", (EDIT, "conf/a.yml"), (EDIT, "conf/a.toml")),
    ("I don't want any new .md files.", (EDIT, "NOTES.md"), (EDIT, "notes.txt")),
    ("Scripts must be in Python, not bash.", (EDIT, "scripts/a.sh"), (EDIT, "scripts/a.py")),
    ("Never create Jupyter notebooks.", (EDIT, "a.ipynb"), (EDIT, "a.py")),
    ("All new code in Kotlin, no Java.", (EDIT, "src/A.java"), (EDIT, "src/A.kt")),
    ("Do not write SQL files by hand.", (EDIT, "db/a.sql"), (EDIT, "db/a.py")),
    ("We write everything in Rust here, so no C files.", (EDIT, "src/a.c"), (EDIT, "src/a.rs")),
    ("Don't touch anything under `packages/shared`.", (EDIT, "packages/shared/a.ts"), (EDIT, "packages/app/a.ts")),
    ("Only modify src/checkout.ts and its test.", (EDIT, "src/cart.ts"), (EDIT, "src/checkout.ts")),
    ("Please don't rename files in public/assets.", (RUN, "git mv public/assets/a.png public/assets/b.png"), (RUN, "ls public/assets")),
    ("Do not commit or push anything.", (RUN, "git push"), (RUN, "git status")),
    ("Don't commit or push anything.", (RUN, "git commit -m x"), (RUN, "git status")),
    ("Never edit the lockfile by hand.", (EDIT, "package-lock.json"), (EDIT, "package.json")),
    ("Do not edit any files, this is only a review.", (EDIT, "src/a.py"), (RUN, "git log")),
    ("This is a read-only investigation, don't change any code.", (EDIT, "src/a.py"), (RUN, "git log")),
    ("Don't open pull requests on your own.", (RUN, "gh pr create"), (RUN, "gh pr view")),
    ("Use npm, not yarn.", (RUN, "yarn test"), (RUN, "npm test")),
    ("Please use poetry for everything Python.", (RUN, "pip install x"), (RUN, "poetry install")),
    ("Never touch the prod config in deploy/prod.env.", (EDIT, "deploy/prod.env"), (EDIT, "deploy/dev.env")),
    ("Please make sure you never edit files in the generated/ directory.", (EDIT, "generated/a.ts"), (EDIT, "src/a.ts")),
    ("Whatever you do, don't modify db/schema.rb.", (EDIT, "db/schema.rb"), (EDIT, "db/seeds.rb")),
    ("You are only allowed to edit files under plugins/search/.", (EDIT, "core/a.php"), (EDIT, "plugins/search/a.php")),
    ("Limit yourself to changes in src/ui/.", (EDIT, "src/api/a.ts"), (EDIT, "src/ui/a.ts")),
    ("Do not touch anything outside src/parser.", (EDIT, "src/lexer/a.rs"), (EDIT, "src/parser/a.rs")),
    ("The tests in spec/legacy/ must stay untouched.", (EDIT, "spec/legacy/a_spec.rb"), (EDIT, "spec/a_spec.rb")),
    ("Keep out of the infra directory.", (EDIT, "infra/main.tf"), (EDIT, "app/main.py")),
    ("No edits to tsconfig.json please.", (EDIT, "tsconfig.json"), (EDIT, "src/a.ts")),
    ("I'd rather you didn't touch `lib/auth.js`.", (EDIT, "lib/auth.js"), (EDIT, "lib/user.js")),
    ("docker-compose.yml: do not change it.", (EDIT, "docker-compose.yml"), (EDIT, "Dockerfile")),
    ("It is forbidden to edit anything in vendor/.", (EDIT, "vendor/x.go"), (EDIT, "main.go")),
    ("Nobody edits locales/de.json but the translators, so leave it.", (EDIT, "locales/de.json"), (EDIT, "locales/en.ts")),
    ("Just look, do not edit.", (EDIT, "a.py"), (RUN, "ls")),
    ("Do not make any changes to the code, only analyse.", (EDIT, "a.py"), (RUN, "ls")),
    ("Commit only when I say so.", (RUN, "git commit -m x"), (RUN, "git status")),
    ("Only push when I tell you to.", (RUN, "git push"), (RUN, "git status")),
    ("Please wait with committing until I have tested it.", (RUN, "git commit -m x"), (RUN, "git status")),
    ("Under no circumstances push to production.", (RUN, "git push origin production"), (RUN, "git push origin topic")),
    ("Pushing to main is forbidden.", (RUN, "git push origin main"), (RUN, "git fetch")),
    ("main is protected: never push there directly.", (RUN, "git push origin main"), (RUN, "git fetch")),
    ("Commits need my approval first.", (RUN, "git commit -m x"), (RUN, "git diff")),
    ("Get my ok before you push.", (RUN, "git push"), (RUN, "git diff")),
    ("Don't do any git operations.", (RUN, "git commit -m x"), (RUN, "ls")),
    ("Don't run any git commands that write.", (RUN, "git commit -m x"), (RUN, "ls")),
    ("Never rewrite history.", (RUN, "git rebase -i HEAD~3"), (RUN, "git log")),
    ("No force pushes.", (RUN, "git push --force"), (RUN, "git push")),
    ("Don't create a branch for this.", (RUN, "git switch -c x"), (RUN, "git branch")),
    ("Do not delete any branches.", (RUN, "git branch -D x"), (RUN, "git branch -a")),
    ("No squash merges.", (RUN, "git merge --squash x"), (RUN, "git log")),
    ("We vendor everything, so never run go get.", (RUN, "go get x/y"), (RUN, "go build")),
    ("Do not add anything to requirements.txt.", (EDIT, "requirements.txt"), (EDIT, "a.py")),
    ("Don't install new stuff.", (RUN, "pip install x"), (RUN, "pip list")),
    ("Please solve it with what we have, no extra libraries.", (RUN, "npm install x"), (RUN, "npm test")),
    ("Adding dependencies is not allowed.", (RUN, "cargo add x"), (RUN, "cargo build")),
    ("We must not depend on anything new, so no npm install of new modules.", (RUN, "npm install x"), (RUN, "npm test")),
    ("Don't use pip, use uv.", (RUN, "pip install -r r.txt"), (RUN, "uv sync")),
    ("pnpm only!", (RUN, "npm ci"), (RUN, "pnpm i")),
    ("Always use pnpm, never npm.", (RUN, "npm ci"), (RUN, "pnpm i")),
    ("Use make test rather than calling pytest.", (RUN, "pytest"), (RUN, "make test")),
    ("We don't use docker here, it's podman.", (RUN, "docker ps"), (RUN, "podman ps")),
    ("Please do not run `npm audit fix`.", (RUN, "npm audit fix"), (RUN, "npm audit")),
    ("Never use find -delete.", (RUN, "find . -name x -delete"), (RUN, "find . -name x")),
    ("Don't start any long running processes like npm run dev.", (RUN, "npm run dev"), (RUN, "npm test")),
    ("The e2e tests must not be run.", (RUN, "npx playwright test"), (RUN, "ls")),
    ("Do not run cargo clean, the build takes an hour.", (RUN, "cargo clean"), (RUN, "cargo build")),
    ("Don't touch the production database with psql.", (RUN, "psql -h prod"), (RUN, "ls")),
    ("Never run anything as root.", (RUN, "sudo ls"), (RUN, "ls")),
    ("Avoid chmod 777.", (RUN, "chmod 777 a"), (RUN, "chmod 644 a")),
    ("Please never use `git add -A`.", (RUN, "git add -A"), (RUN, "git add a.py")),
    ("Write it in TypeScript, not JavaScript.", (EDIT, "a.js"), (EDIT, "a.ts")),
    ("Only TypeScript files, no plain JS.", (EDIT, "a.js"), (EDIT, "a.ts")),
    ("No Python scripts.", (EDIT, "a.py"), (EDIT, "a.sh")),
    ("Docs go into the wiki, so don't add markdown files to the repo.", (EDIT, "docs/a.md"), (EDIT, "a.py")),
    ("Configuration is TOML here; never add JSON files.", (EDIT, "a.json"), (EDIT, "a.toml")),
    ("Never generate .csv files into the repo.", (EDIT, "a.csv"), (EDIT, "a.py")),
    ("Don't write any new tests in JavaScript.", (EDIT, "a.test.js"), (EDIT, "a.test.ts")),
    ("No bash scripts, use Python.", (EDIT, "a.sh"), (EDIT, "a.py")),
    ("Please don't leave any .bak files.", (EDIT, "a.bak"), (EDIT, "a.py")),
    ("You may only change things under packages/web.", (EDIT, "packages/api/x.ts"), (EDIT, "packages/web/x.ts")),
    ("Hold the push until CI is fixed.", (RUN, "git push origin topic"), (RUN, "git status")),
    ("terraform apply is off limits; plan is fine.", (RUN, "terraform apply -auto-approve"), (RUN, "terraform plan")),
    ("Never delete migrations.", (RUN, "rm db/migrations/0003_x.py"), (RUN, "ls db/migrations")),
    ("Don't remove node_modules.", (RUN, "rm -rf node_modules"), (RUN, "rm -rf dist")),
    ("Please don't run the whole test suite, it takes an hour.", (RUN, "pytest -x"), (RUN, "pytest tests/test_a.py")),
    ("Don't kill processes on port 3000.", (RUN, "kill -9 1234"), (RUN, "lsof -i :3000")),
    ("Stay on this branch, don't check out others.", (RUN, "git checkout main"), (RUN, "git branch")),
    ("Please don't format the whole code base with black.", (RUN, "black ."), (RUN, "pytest")),
    ("Before you change anything, show me the plan.", (EDIT, "src/a.py"), (RUN, "grep -r x src")),
    ("Don't call the production API (api.example.com).", (RUN, "curl https://api.example.com/v1"), (RUN, "curl http://localhost")),
    ("Don't modify the tests.", (EDIT, "pkg/cart_test.go"), (EDIT, "pkg/cart.go")),
    ("Never write to /etc.", (RUN, "echo x > /etc/hosts"), (RUN, "cat /etc/hosts")),
    ("Do not edit src/legacy/*.js.", (EDIT, "src/legacy/a.js"), (EDIT, "src/legacy/a.md")),
    ("Don't you dare push this.", (RUN, "git push"), (RUN, "git status")),
    ("You shall not use npx.", (RUN, "npx create-react-app x"), (RUN, "npm test")),
    ("Do not apt install anything on this box.", (RUN, "apt-get install -y jq"), (RUN, "apt list")),
    ("Don't start docker containers.", (RUN, "docker run redis"), (RUN, "docker ps")),
    ("Do not regenerate the snapshots (jest -u).", (RUN, "npx jest -u"), (RUN, "npx jest")),
    ("Bitte nichts in src/alt ändern.", (EDIT, "src/alt/a.py"), (EDIT, "src/neu/a.py")),
    ("Bitte niemals auf main pushen!", (RUN, "git push origin main"), (RUN, "git push origin topic")),
    ("Verwende kein npm.", (RUN, "npm install"), (RUN, "pnpm install")),
    ("Ne touche pas au dossier vendor/.", (EDIT, "vendor/a.php"), (EDIT, "src/a.php")),
    ("No hagas push todavía.", (RUN, "git push"), (RUN, "git status")),
    ("Не трогай migrations/.", (EDIT, "migrations/1.sql"), (EDIT, "src/a.sql")),
    ("不要修改 src/legacy/ 下的文件。", (EDIT, "src/legacy/a.c"), (EDIT, "src/a.c")),
    ("まだcommitしないでください。", (RUN, "git commit -m x"), (RUN, "git diff")),
    ("src/api/ 以外は変更しないでください。", (EDIT, "src/ui/a.ts"), (EDIT, "src/api/a.ts")),
    # What an edit brings in, whole-sentence demands, other ways to say it.
    ("Package manager: bun.", (RUN, "npm i"), (RUN, "bun i")),
    ("standard library only please", (RUN, "pip install requests"), (RUN, "python -m unittest")),
    ("Keep it dependency-free.", (RUN, "npm install lodash"), (RUN, "npm test")),
    ("Don't touch package.json or the lockfile.", (EDIT, "package.json"), (EDIT, "src/a.ts")),
    ("No Co-Authored-By lines in commits.", (RUN, "git commit -m 'x\n\nCo-Authored-By: Claude <a@b>'"), (RUN, "git commit -m x")),
    ("Don't mention Claude in commit messages.", (RUN, "git commit -m 'Generated with Claude Code'"), (RUN, "git commit -m 'fix parser'")),
    ("Never use `git add .`, add files by name.", (RUN, "git add ."), (RUN, "git add src/a.py")),
    ("never git add -A", (RUN, "git add -A && git commit -m x"), (RUN, "git add src/a.py")),
    ("No merge commits on this branch, rebase instead.", (RUN, "git merge main"), (RUN, "git rebase main")),
    ("Don't run git clean.", (RUN, "git clean -fdx"), (RUN, "git status")),
    ("Don't change the git config.", (RUN, "git config user.name x"), (RUN, "git log")),
    ("Do not commit .env.", (RUN, "git add .env"), (RUN, "git add src/env.py")),
    ("Never commit to main directly, use branches.", (RUN, "git commit -m x"), (RUN, "git status")),
    ("Never delete any files.", (RUN, "rm src/a.py"), (EDIT, "src/a.py")),
    ("Don't read .env.", (RUN, "cat .env"), (RUN, "cat README.md")),
    ("Please don't use `rm -rf` anywhere.", (RUN, "rm -rf node_modules"), (RUN, "rm a.txt")),
    ("No `as any` casts.", (EDIT, "src/a.ts", "x as any"), (EDIT, "src/a.ts", "x as string")),
    ("Never use var, only let and const.", (EDIT, "a.js", "var x = 1"), (EDIT, "a.js", "let x = 1")),
    ("Don't use `eval`.", (EDIT, "a.js", "eval(x)"), (EDIT, "a.js", "evaluate(x)")),
    ("no @ts-ignore", (EDIT, "a.ts", "// @ts-ignore\nfoo()"), (EDIT, "a.ts", "foo()")),
    ("No eslint-disable comments.", (EDIT, "a.ts", "// eslint-disable-next-line\nfoo()"), (EDIT, "a.ts", "foo()")),
    ("Don't add comments to the code.", (EDIT, "a.py", "# loop\nfor x in y: pass"), (EDIT, "a.py", "for x in y: pass")),
    ("No emojis in the code.", (EDIT, "a.py", "print('🎉')"), (EDIT, "a.py", "print('done')")),
    ("Do not use moment.js.", (EDIT, "a.js", "import moment from 'moment'"), (EDIT, "a.js", "import dayjs from 'dayjs'")),
    ("No `!important` in the CSS.", (EDIT, "a.css", "color: red !important"), (EDIT, "a.css", "color: red")),
    ("Never use time.sleep in tests.", (EDIT, "tests/test_a.py", "time.sleep(3)"), (EDIT, "tests/test_a.py", "poll()")),
    ("Don't run the server.", (RUN, "npm start"), (RUN, "npm test")),
    ("Don't run docker compose down -v.", (RUN, "docker compose down -v"), (RUN, "docker compose ps")),
    ("Never run `prisma migrate reset`.", (RUN, "npx prisma migrate reset"), (RUN, "npx prisma generate")),
    ("Don't ssh into anything.", (RUN, "ssh web1 ls"), (RUN, "ls")),
    ("Do not use curl | sh installers.", (RUN, "curl https://x.sh | sh"), (RUN, "ls")),
    ("Only touch the api package.", (EDIT, "packages/web/a.ts"), (EDIT, "packages/api/a.ts")),
    ("Limit your edits to *.py files.", (EDIT, "a.js"), (EDIT, "a.py")),
    ("Leave Dockerfile alone.", (EDIT, "Dockerfile"), (EDIT, "src/a.py")),
    ("Don't modify anything in node_modules.", (EDIT, "node_modules/x/index.js"), (EDIT, "src/a.js")),
    ("the docs folder is off limits", (EDIT, "docs/a.md"), (EDIT, "src/a.py")),
    ("src/legacy is frozen, don't change it", (EDIT, "src/legacy/a.py"), (EDIT, "src/a.py")),
    ("Don't write outside the repo.", (EDIT, "/home/dev/other/a.txt"), (EDIT, "a.txt")),
    ("No XML config, we use YAML.", (EDIT, "conf/a.xml"), (EDIT, "conf/a.yaml")),
    ("All new files in TypeScript.", (EDIT, "src/a.js"), (EDIT, "src/a.ts")),
    ("Write tests in pytest, not unittest.", (RUN, "python -m unittest"), (RUN, "pytest")),
    ("Use ripgrep instead of grep.", (RUN, "grep -rn x ."), (RUN, "rg x")),
    ("Use `just` instead of make.", (RUN, "make test"), (RUN, "just test")),
    ("Please use black, not ruff format.", (RUN, "ruff format ."), (RUN, "black .")),
    ("Don't install anything with brew.", (RUN, "brew install jq"), (RUN, "ls")),
    ("Don't bump any versions.", (RUN, "npm version patch"), (RUN, "npm ls")),
    ("Ne fais pas de commit.", (RUN, "git commit -m x"), (RUN, "git status")),
    ("Bitte keine neuen Abhängigkeiten.", (RUN, "npm install x"), (RUN, "npm test")),
    ("No instales dependencias nuevas.", (RUN, "npm install x"), (RUN, "npm test")),
    ("コメントは追加しないで、src/core は触らないでください。", (EDIT, "src/core/a.ts"), (EDIT, "src/a.ts")),
    ("Please don't push, I'll do it.", (RUN, "git push"), (RUN, "git fetch")),
    ("Do not close the issue.", (RUN, "gh issue close 4"), (RUN, "gh issue view 4")),
    ("don't start the app, I have it running", (RUN, "npm run dev"), (RUN, "npm test")),
    ("No global installs.", (RUN, "npm install -g x"), (RUN, "npm install")),
    ("Never use print, use logging.", (EDIT, "a.py", "print(x)"), (EDIT, "a.py", "log.info(x)")),
    ("Never hardcode localhost.", (EDIT, "a.py", "url='http://localhost:80'"), (EDIT, "a.py", "url=cfg.url")),
    ("The config directory belongs to ops, don't change anything there.", (EDIT, "config/app.yml"), (EDIT, "src/a.py")),
    ("Leave the CI alone, i.e. .github stays as it is.", (EDIT, ".github/workflows/ci.yml"), (EDIT, "src/a.py")),
    ("You may read everything but only write to out/.", (EDIT, "src/a.py"), (EDIT, "out/a.py")),
    ("Do not touch the Makefile or Dockerfile.", (EDIT, "Dockerfile"), (EDIT, "src/a.py")),
    ("work in packages/ui only", (EDIT, "packages/core/a.ts"), (EDIT, "packages/ui/a.ts")),
    ("never edit files that end in .g.dart", (EDIT, "lib/a.g.dart"), (EDIT, "lib/a.dart")),
    ("schema.graphql is owned by the backend team, don't edit it", (EDIT, "api/schema.graphql"), (EDIT, "api/a.ts")),
    ("no pushes today", (RUN, "git push"), (RUN, "git pull")),
    ("You don't commit, I do.", (RUN, "git commit -m x"), (RUN, "git status")),
    ("Keep your fingers off my stashes.", (RUN, "git stash pop"), (RUN, "git status")),
    ("Please no git reset --hard, ever.", (RUN, "git reset --hard HEAD~1"), (RUN, "git reset --soft HEAD~1")),
    ("Don't delete remote branches.", (RUN, "git push origin --delete x"), (RUN, "git push origin x")),
    ("We release from CI, so don't npm publish.", (RUN, "npm publish"), (RUN, "npm pack")),
    ("do not add any cargo dependencies", (RUN, "cargo add serde"), (RUN, "cargo build")),
    ("No additional pip packages, the image is fixed.", (RUN, "python3 -m pip install rich"), (RUN, "pip list")),
    ("Never pull in composer packages without my ok.", (RUN, "composer require x/y"), (RUN, "composer install")),
    ("Stick with the dependencies we have.", (RUN, "npm install left-pad"), (RUN, "npm ci")),
    ("yarn only, no npm please", (RUN, "npm run test"), (RUN, "yarn test")),
    ("In this repo everything goes through uv.", (RUN, "pip install x"), (RUN, "uv add x")),
    ("Run things with poetry run, don't call python directly.", (RUN, "python script.py"), (RUN, "poetry run python script.py")),
    ("Never run the e2e suite, it costs money.", (RUN, "npx playwright test"), (RUN, "npx vitest")),
    ("don't run `make deploy`", (RUN, "make deploy"), (RUN, "make build")),
    ("no docker commands please", (RUN, "docker build ."), (RUN, "ls")),
    ("Do not kill the dev server.", (RUN, "pkill -f vite"), (RUN, "ps aux")),
    ("Don't restart nginx.", (RUN, "systemctl restart nginx"), (RUN, "systemctl status nginx")),
    ("Don't drop the database.", (RUN, "dropdb shop"), (RUN, "psql -l")),
    ("Never use wget or curl.", (RUN, "curl https://x.y"), (RUN, "ls")),
    ("No .env files in the repo.", (EDIT, ".env", "A=1"), (EDIT, "src/env.py")),
    ("New components in TSX, not JSX.", (EDIT, "src/A.jsx"), (EDIT, "src/A.tsx")),
    ("No `console.log` please.", (EDIT, "a.js", "console.log(1)"), (EDIT, "a.js", "log(1)")),
    ("Don't leave debug prints behind.", (EDIT, "a.py", "print(x)"), (EDIT, "a.py", "return x")),
    ("Avoid `unsafe` in Rust.", (EDIT, "a.rs", "unsafe { x }"), (EDIT, "a.rs")),
    ("Never swallow exceptions with a bare except.", (EDIT, "a.py", "try:\n  x\nexcept:\n  pass"), (EDIT, "a.py", "try:\n  x\nexcept ValueError:\n  pass")),
    ("no new TODOs", (EDIT, "a.py", "# TODO fix"), (EDIT, "a.py", "# fixed")),
    ("Don't import lodash.", (EDIT, "a.js", "import _ from 'lodash'"), (EDIT, "a.js", "import x from './x'")),
    ("Don't use dangerouslySetInnerHTML.", (EDIT, "a.jsx", "<div dangerouslySetInnerHTML={x}/>"), (EDIT, "a.jsx", "<div>{x}</div>")),
    ("Kein sudo bitte.", (RUN, "sudo ls"), (RUN, "ls")),
    ("Fass die Tests nicht an.", (EDIT, "tests/test_a.py"), (EDIT, "src/a.py")),
    ("Pas de nouvelles dépendances.", (RUN, "npm install x"), (RUN, "npm test")),
    ("N'utilise pas docker.", (RUN, "docker ps"), (RUN, "ls")),
    ("No toques nada fuera de src/.", (EDIT, "docs/a.md"), (EDIT, "src/a.py")),
    ("用 pnpm，不要用 npm。", (RUN, "npm install"), (RUN, "pnpm install")),
    ("Never edit vendored code.", (EDIT, "vendor/a.go"), (EDIT, "cmd/a.go")),
    ("Everything with .gen.ts at the end is generated, leave it alone.", (EDIT, "src/a.gen.ts"), (EDIT, "src/a.ts")),
    ("No toques nada dentro de la carpeta legado.", (EDIT, "legado/a.py"), (EDIT, "src/a.py")),
    ("Leave docker-compose.yml alone.", (RUN, "yq -i '.x=1' docker-compose.yml"), (RUN, "cat docker-compose.yml")),
    ("The snapshots aren't yours to update.", (EDIT, "src/__snapshots__/a.snap"), (EDIT, "src/a.ts")),
    ("Migrations are run by the DBA, never by you.", (RUN, "alembic upgrade head"), (RUN, "alembic history")),
    ("No extra dependencies in package.json.", (EDIT, "package.json", '"left-pad": "1.0"'), (EDIT, "package.json", '"type": "module"')),
    ("Never push from a shell.", (RUN, "bash -lc 'git push'"), (RUN, "bash -lc 'git status'")),
    ("New tests are called *.test.ts, not *.spec.ts.", (EDIT, "src/a.spec.ts"), (EDIT, "src/a.test.ts")),
]  # fmt: skip

NO_GUARDS = [
    "I don't like commits that are too large.",
    "The tests never ran on Windows, see the log.",
    "Why does the push not work?",
    "Use descriptive names.",
    "Please make the button blue and not so wide.",
    "I don't know which port it is.",
    "Explain how the parser works without jargon.",
    "There is no README yet, that is fine.",
    "Don't worry about the tests, they are slow.",
    "I can't push to main from here.",
    "There is no pytest in this image.",
    "Don't forget to commit.",
    "Never mind the linter.",
    "It does not build on Windows.",
    "The server can't restart.",
    "I never run the tests on my laptop.",
    "Why not use npm?",
    "No problem, commit it.",
    "The script doesn't push anything.",
    "We have no CI yet.",
    "Please fix the bug without breaking the tests.",
    "Make the test suite faster, not slower.",
    "Add a --no-verify flag to the CLI.",
    "The docs say never to use sudo.",
    "If you can't push, tell me.",
    "This is not a Python project.",
    "Not sure whether npm or yarn is used.",
    "I have not committed yet.",
    "Don't know where the config is.",
    "Commit and push when done.",
    "Please run the tests before you commit.",
    "Update the readme and commit.",
    "Make sure the button isn't red.",
    "Explain what happens when there is no git.",
    "The build takes long, no idea why.",
    "Do the refactoring in src/a.py and run pytest.",
    "The user must not see the password.",
    "Requests without a token must not be accepted.",
    "Only admins can delete users.",
    "Write a function that never throws.",
    "When there are no rows return an empty list.",
    "Use const instead of let.",
    "Use async functions rather than callbacks.",
    "It works, not bad.",
    "Check src/app.py and tell me before lunch.",
    "The file src/app.py is read only by root, fix that.",
    "The test should not depend on docker.",
    "run the tests again, not only the unit tests",
    "and no, don't stop, continue with the tests",
    "no tests needed",
    "Don't stop until the tests pass.",
    "Create the file if it does not exist.",
    "You can now push.",
    "Nothing to commit.",
    "Don't you think we should commit?",
    "Change nothing in the output format.",
    "The parser must not accept json with comments.",
    "No new test files please, extend the existing ones.",
    "Don't change the behaviour of the tests runner.",
    "Work on this until the tests pass, only then stop.",
    "Do not hold back.",
    "Don't mention tools in commit messages.",
    "Das Deployment hat nicht funktioniert.",
    "Füge src/a.py hinzu, aber nicht zu lang.",
    "Bitte committe am Ende, aber nicht alles auf einmal.",
    "src/a.py 里的函数不能返回 null。",
    "Ne mets pas d'emojis.",
    "Don't print the password anywhere.",
    "Never show the raw `user_id` to visitors.",
    "Don't rename `fetchUser`, other teams call it.",
    "Use a todo list for this.",
    "The api docs are in docs/, don't repeat them.",
    "Don't leave the page blank while it loads.",
    "Keep the answer free of jargon.",
]


def is_forbidden(guard: Guard, call: Call) -> bool:
    kind, what, *text = call
    if kind == RUN:
        return guard.forbids("", what, PROJECT)
    path = what if what.startswith("/") else f"{PROJECT}/{what}"
    return guard.forbids(path, "", PROJECT, {"old_string": "before", "new_string": "".join(text)})


def breaks(sentence: str, call: Call) -> bool:
    text = "\n".join(guard.encode() for guard in read_guards([("u1", sentence)]))
    found = [guard for guard in decode_guards(text) if is_forbidden(guard, call)]
    assert all(guard.id == "u1" and guard.sentence == sentence for guard in found)
    return bool(found)


def test_the_bank_has_sixty_rules() -> None:
    assert len(BANK) >= 60


@pytest.mark.parametrize(("sentence", "forbidden", "allowed"), BANK, ids=[row[0] for row in BANK])
def test_a_rule_speaks_before_the_call_that_breaks_it_and_no_other(
    sentence: str, forbidden: Call, allowed: Call
) -> None:
    assert breaks(sentence, forbidden)
    assert not breaks(sentence, allowed)


@pytest.mark.parametrize("sentence", NO_GUARDS)
def test_a_sentence_that_forbids_no_call_is_no_guard(sentence: str) -> None:
    calls: list[Call] = [
        (RUN, "git commit -m x"), (RUN, "git push"), (RUN, "pytest"), (RUN, "npm install x"),
        (EDIT, "src/a.py"), (EDIT, "README.txt"),
    ]  # fmt: skip
    assert not any(breaks(sentence, call) for call in calls)


def test_lines_of_another_version_are_left_out() -> None:
    assert (
        decode_guards("what is this\nrun\tgit+push\tu1\tNever push.\nrun\t\tu2\tx\n\t\t\t\t") != []
    )
    assert [guard.id for guard in decode_guards("run\tgit+push\tu1\tNever push.\nbad")] == ["u1"]


def test_a_line_is_split_into_the_commands_it_runs() -> None:
    assert split_commands("cd x && sudo -n true; FOO=1 /usr/bin/git -C y push | tee z") == [
        ["cd", "x"], ["-n", "true"], ["git", "push"], ["tee", "z"],
    ]  # fmt: skip


def test_a_document_within_a_command_runs_nothing() -> None:
    assert split_commands("git commit -F - <<'EOF'\nmake test; git push\nEOF\nls") == [
        ["git", "commit", "-F", "-", "<<'EOF"], ["ls"],
    ]  # fmt: skip


def test_a_text_that_was_there_before_an_edit_is_not_brought_in_by_it() -> None:
    (guard,) = read_guards([("u1", "Never leave a console.log in the code.")])
    edit = {"old_string": "console.log(a)", "new_string": "// why\nconsole.log(a)"}
    assert not guard.forbids("/x/a.js", "", "/x", edit)
    assert guard.forbids("/x/a.js", "", "/x", {"edits": [{}, {"new_string": "console.log(b)"}]})


def test_of_a_patch_the_lines_with_a_plus_are_brought_in() -> None:
    patch = "*** Begin Patch\n*** Update File: a.js\n-old()\n+debugger\n*** End Patch"
    assert list_changes({"input": patch}) == [("old()", "debugger")]


def test_a_rule_against_new_files_speaks_where_a_file_is_not_there_yet(tmp_path: Path) -> None:
    (guard,) = read_guards([("u1", "Don't create new files, extend those we have.")])
    there = tmp_path / "there.py"
    there.write_text("")
    assert guard.forbids(str(tmp_path / "new.py"), "", str(tmp_path), {"content": "x"})
    assert not guard.forbids(str(there), "", str(tmp_path), {"content": "x"})


@pytest.mark.parametrize(
    "sentence", ["Don't use ` ` here.", "never ` `any`", "Never use `` in it.", "no `"]
)
def test_quotes_with_nothing_in_them_are_no_code(sentence: str) -> None:
    assert not [kind for kind, what in find_forbidden(sentence) if not what.strip()]


def test_empty_words_of_a_command_are_no_words() -> None:
    assert split_commands("cd \"\" && git push '' --force") == [["cd"], ["git", "push", "--force"]]
    assert breaks("Never force-push.", (RUN, "git push '' --force"))
    assert breaks("Stay away from prod.", (RUN, "ssh '' prod-1"))


def test_a_sentence_that_the_user_types_reaches_the_call_that_breaks_it() -> None:
    """What is not taken for a rule or hold in force would be no guard either."""
    missed = []
    for sentence, call, _ in BANK:
        at = Origin("u", 0, 0, "2026-11-16T08:00:00Z")
        table = fold(EMPTY_STATE, UserSaid(at, sentence)).rules
        said = [(key, text) for key, text, _ in list_standing(table)]
        if not any(is_forbidden(guard, call) for guard in read_guards(said)):
            missed.append(sentence)
    assert len(BANK) >= 60
    assert not missed
