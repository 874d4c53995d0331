# shellcheck shell=bash
# Sourced: installs what tests need on Debian, where it is missing.

# need COMMAND:PACKAGE...: the packages whose command is not there.
need() {
  local pair missing=() as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  for pair in "$@"; do
    command -v "${pair%%:*}" >/dev/null || [ -e "${pair%%:*}" ] || missing+=("${pair##*:}")
  done
  ((${#missing[@]})) || return 0
  echo "installing: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# Interpreters and compilers of the example players, a terminal, a browser, a sandbox.
usual_tools() {
  need guile:guile-3.0 python3:python3 node:nodejs npm:npm mawk:mawk gcc:gcc g++:g++ make:make git:git perl:perl \
    tclsh:tcl javac:default-jdk-headless go:golang-go ruby:ruby lua:lua5.4 ocaml:ocaml-nox dune:ocaml-dune \
    swipl:swi-prolog-nox sbcl:sbcl php:php-cli ghc:ghc fpc:fp-compiler script:bsdutils tmux:tmux bwrap:bubblewrap \
    setpriv:util-linux chromium:chromium chromedriver:chromium-driver shellcheck:shellcheck jq:jq
  python3 -c 'import ensurepip, venv' 2>/dev/null || need python3-venv:python3-venv
  if ! cargo clippy --version >/dev/null 2>&1 || ! cargo fmt --version >/dev/null 2>&1; then
    rustup component add clippy rustfmt
  fi
}

# python_with PACKAGE...: an environment of Python in target/tools that has them.
python_with() {
  [ -x target/tools/bin/python ] || python3 -m venv target/tools
  target/tools/bin/pip install --quiet --disable-pip-version-check "$@"
}
# shellcheck disable=SC2034 # for those who source this
pandas=pandas==3.1.1 joblib=joblib==1.6.0 maturin=maturin==1.16.0
