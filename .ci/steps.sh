# Sourced by .ci/run, .ci/nightly and .ci/fuzz, after scripts/setup.sh: the steps that both have, and the table of their times.

# ci_run [STEP…] -- ALL…: runs the named steps, or all of them, in the order of ALL: step X is the function run_X. The
# first that fails ends the script. Prints the table at the end in either case.
ci_run() {
  local wanted=() step
  while [ "$1" != -- ]; do wanted+=("$1") && shift; done
  shift
  for step in "${wanted[@]}"; do
    [[ " $* " == *" $step "* ]] || tuner_fail "there is no step '$step': $*"
  done
  ci_table=() ci_begun=$SECONDS
  ci_commit=$(ci_clean_commit)
  trap ci_print_table EXIT
  for step in "$@"; do
    [ "${#wanted[@]}" -eq 0 ] || [[ " ${wanted[*]} " == *" $step "* ]] || continue
    ci_step=$step ci_step_begun=$SECONDS
    printf '\n== %s\n' "$step"
    "run_$step"
    ci_table+=("$(printf '%-10s %5d s' "$step" $((SECONDS - ci_step_begun)))")
    ci_step=
  done
  [ "${#wanted[@]}" -gt 0 ] || ci_record_pass
}

ci_print_table() {
  local status=$?
  printf '\n== %s\n' "steps"
  [ "${#ci_table[@]}" -eq 0 ] || printf '%s\n' "${ci_table[@]}"
  [ -z "${ci_step:-}" ] || printf '%-10s %5d s  failed\n' "$ci_step" $((SECONDS - ci_step_begun))
  printf '%-10s %5d s\n' together $((SECONDS - ci_begun))
  return "$status"
}

# The commit that the tree is; nothing where it has changes of its own.
ci_clean_commit() { [ -n "$(git status --porcelain 2>/dev/null)" ] || git rev-parse --verify --quiet HEAD || true; }

# Writes down the commit that passed: when all was checked, in the same tree from begin to end.
ci_record_pass() {
  [ "${0##*/}" = run ] && [ -z "$ci_seconds${TUNER_BASE:-}" ] || return 0
  [ -z "$ci_commit" ] || [ "$ci_commit" != "$(ci_clean_commit)" ] || echo "$ci_commit" >.ci/passed
}

ci_packages() {
  tuner_install_packages "${TUNER_PACKAGES[@]}" clang-14 lld-14 libclang-rt-14-dev clang-format-14 clang-tidy-14 \
    libopenmpi-dev openmpi-bin \
    pkg-config python3 python3-venv python3-dev chromium  # the tests of the report's page skip without a browser
  tuner_require_cmake
  # Debian names clang++ by its version; the presets name it without.
  ci_compiler=()
  command -v clang++ >/dev/null || ci_compiler=(-D CMAKE_CXX_COMPILER="$(ci_find_tool clang++)")
  mkdir -p build
}

ci_find_tool() { command -v "$1-14" || command -v "$1" || tuner_fail "$1 is missing: install ${1/++/}-14"; }

# The code of the input, without comments, and the names of the files that it includes, without their folders: files
# move, and every build checks that they are there. What the preprocessor would change stays.
ci_code() {
  local code
  code=$(g++ -fpreprocessed -dD -E -P -x c++ - 2>/dev/null) || return 0
  sed '/^#include/d' <<<"$code"
  sed -n 's|^#include *[<"]\(.*/\)\?||p' <<<"$code" | sort
}

# ci_find_changed: the array `changed`, C++ files of include/, tuner/ and cache/ whose code differs from the last
# commit that passed. Without that commit (a clone without history): all of them, and ci_seconds limits the steps that
# read them.
ci_find_changed() {
  local base=${TUNER_BASE:-$(cat .ci/passed 2>/dev/null || echo unknown)}
  local -a patterns=('include/*.[ch]pp' 'tuner/*.[ch]pp' 'cache/*.[ch]pp')
  ci_seconds=
  if git rev-parse --quiet --verify "$base^{commit}" >/dev/null; then
    local was file same=0
    changed=()
    while IFS=$'\t' read -r _ was file; do
      file=${file:-$was}  # of a file that moved, both
      if cmp -s <(git show "$base:$was" 2>/dev/null | ci_code) <(ci_code <"$file"); then
        same=$((same + 1))
      else
        changed+=("$file")
      fi
    done < <(git diff -M --name-status --diff-filter=d "$base" -- "${patterns[@]}")
    echo "${#changed[@]} files changed since ${base:0:9}, and the comments or the place of $same more"
  elif [ -n "${TUNER_BASE:-}" ]; then
    tuner_fail "TUNER_BASE=$TUNER_BASE is not a commit of this clone"
  else
    ci_seconds=120
    mapfile -t changed < <(git ls-files -- "${patterns[@]}")
    echo "${base:0:9}, the last commit that passed, is not in this clone: of all ${#changed[@]} files, those that" \
      "$ci_seconds s are enough for are read by clang-tidy and compiled alone; .ci/nightly takes all"
  fi
}

# A number that differs from commit to commit.
ci_seed() { echo $((16#$(git rev-parse --short=7 HEAD 2>/dev/null || echo 1))); }

ci_format() {
  git ls-files -z -- 'include/*.[ch]pp' 'tuner/*.[ch]pp' 'cache/*.[ch]pp' 'tests/*.[ch]pp' 'examples/*.cpp' \
    'bench/*.[ch]pp' 'templates/*.hpp' | xargs -0 "$(ci_find_tool clang-format)" --dry-run -Werror
}

# ci_configure PRESET [ARGUMENT…]: messages go to build/PRESET.log.
ci_configure() {
  local preset=$1 compiler=()
  shift
  [ "$preset" = release ] || compiler=("${ci_compiler[@]}")
  (cmake --preset "$preset" "${compiler[@]}" "$@") >"build/$preset.log" 2>&1 ||
    { cat "build/$preset.log"; tuner_fail "cmake could not configure build/$preset"; }
  # A folder that another compiler was used in loses its settings.
  [ "$preset" = release ] || grep -q '^TUNER_SANITIZE:[A-Z]*=.' "build/$preset/CMakeCache.txt" ||
    tuner_fail "build/$preset has no sanitizer: remove that folder"
}

ci_ctest() {
  local tree=$1 status=0
  shift
  ctest --test-dir "build/$tree" --output-on-failure --parallel "$(tuner_jobs)" --no-tests=error "$@" || status=$?
  tuner_count_tests "build/$tree"
  return "$status"
}

# FILE…: prints the other files that include one of them directly.
ci_includers() {
  printf '%s\n' "$@" | sed -n 's|^include/||; s|.*\.hpp$|#include <&>|p' >build/changed_headers
  [ ! -s build/changed_headers ] ||
    git grep --files-with-matches --fixed-strings -f build/changed_headers -- 'include/*.[ch]pp' \
      'tuner/*.[ch]pp' 'cache/*.[ch]pp' |
    sort | comm -23 - <(printf '%s\n' "$@" | sort)
}

# FILE…: prints the sources, and the headers that none of them includes directly. Clang-tidy reads headers where they
# are included.
ci_lint_roots() {
  local file sources=()
  for file in "$@"; do [[ $file != *.cpp ]] || sources+=("$file"); done
  for file in "$@"; do
    [[ $file == *.hpp && ${#sources[@]} -gt 0 ]] && grep -qF "#include <${file#include/}>" "${sources[@]}" || echo "$file"
  done
}

# ci_each COMMAND: runs COMMAND with each line of the input as $0, in parallel. If ci_seconds is set, it takes the lines
# in an order that differs from commit to commit, starts none after that time and says how many it ran.
ci_each() {
  local lines deadline=
  lines=$(cat)
  [ -n "$lines" ] || { echo "no file to read"; return; }
  if [ -n "${ci_seconds:-}" ]; then
    deadline=$(($(date +%s) + ci_seconds))
    lines=$(shuf --random-source=<(git rev-parse HEAD; yes) <<<"$lines")
  fi
  ci_ran=$PWD/ran
  : >"$ci_ran"
  export ci_ran
  xargs -d '\n' -n 1 -P "$(tuner_jobs)" bash -c \
    "[ -z '$deadline' ] || [ \$(date +%s) -lt '${deadline:-0}' ] || exit 0; echo >>\"\$ci_ran\"; $1" <<<"$lines"
  echo "$(wc -l <"$ci_ran") of $(wc -l <<<"$lines") files"
}

# Configures build/alone, whose commands compile each file by itself.
ci_alone_commands() {
  cmake --preset alone >build/alone.log 2>&1 || { cat build/alone.log; tuner_fail "cmake could not configure build/alone"; }
}

# FILE…: prints the lines of build/alone/compile_commands.json that start with KEY and belong to one of them. A header's
# are those of the source that includes it alone (cmake/HeadersAlone.cmake). Says which files nothing here compiles.
ci_commands() {
  local key=$1 file
  shift
  [ $# -gt 0 ] || return 0
  # One command a line: {"directory", "command", "file"}; quotes and backslashes are escaped.
  sed -n "s/^ *\"$key\": \"\(.*\)\",\{0,1\}\$/\1/p" build/alone/compile_commands.json | sed 's/\\\(.\)/\1/g' |
    sort -u >build/commands
  for file in "$@"; do
    [[ $file != *.hpp ]] || file+=.cxx
    grep -F "/$file" build/commands || echo "nothing here compiles $file" >&2
  done
}

# FILE…: each read by the compiler with all warnings, for what only another file's includes make compile.
ci_compile_alone() {
  ci_alone_commands
  ci_commands command "$@" | sed 's/$/ -fsyntax-only/' | (cd build/alone && ci_each 'eval "$0"')
}

# FILE…: each read by clang-tidy, which also fails on one that does not compile by itself.
ci_tidy() {
  ci_alone_commands
  ci_commands file "$@" | (cd build && ci_each \
    "cd ..; $(ci_find_tool clang-tidy) -p build/alone --quiet --extra-arg=-Wno-unknown-warning-option --extra-arg=-Qunused-arguments \"\$0\"")
}
