#include <tuner/cli/print/manual.hpp>

#include <functional>

#include <tuner/version.hpp>

namespace tuner::cli {
namespace {

/// \p text with \p before in front of each character that is one of \p special.
std::string escaped(std::string_view text, std::string_view special, std::string_view before = "\\") {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += before;
    out += c;
  }
  return out;
}

/// Calls \p use with every option of \p page, --help too.
void for_each_option(const CommandPage& page, const std::function<void(const Options::Option&)>& use) {
  for (const Options::Group& group : page.options.groups())
    for (const Options::Option& option : group.options) use(option);
  use({Options::Kind::flag, "help,h", "", "print this page"});
}

/// \p text as troff reads it. Plain, some characters become others in UTF-8, such as a quote that no shell understands.
/// "\&" in front of a line keeps it from being a request.
std::string roff(std::string_view text) {
  static const std::map<char, std::string_view> kSpecial{
      {'\\', "\\e"}, {'-', "\\-"}, {'`', "\\(ga"}, {'\'', "\\(aq"}, {'^', "\\(ha"}, {'~', "\\(ti"}, {'\n', "\n\\&"}};
  std::string out = "\\&";
  for (const char c : text) {
    const auto at = kSpecial.find(c);
    out += at == kSpecial.end() ? std::string_view(&c, 1) : at->second;
  }
  return out;
}

std::string roff_lines(std::string_view text) { return ".nf\n" + roff(text) + "\n.fi\n"; }

std::string man_page(const std::vector<CommandPage>& pages) {
  std::string out = fmt::format(
      ".TH TUNE 1 \"\" \"tuner {}\"\n.SH NAME\ntune \\- makes CUDA kernels fast on the GPU they run on\n"
      ".SH SYNOPSIS\n.B tune\n.I KERNEL\n[options]\n.br\n.B tune\n.I COMMAND\n[options]\n.SH COMMANDS\n",
      kVersion);
  for (const CommandPage& page : pages) {
    out += fmt::format(".SS tune {}\n{}.\n.PP\n", page.name, roff(page.summary));
    out += roff_lines(page.options.usage());
    for_each_option(page, [&](const Options::Option& option) {
      out += fmt::format(".TP\n\\fB{}\\fR", roff("--" + option.long_name()));
      if (const std::string letter = option.short_name(); !letter.empty())
        out += fmt::format(", \\fB\\-{}\\fR", letter);
      if (option.kind != Options::Kind::flag) out += fmt::format(" \\fI{}\\fR", roff(option.value));
      out +=
          fmt::format("\n{}{}\n", roff(option.help), option.preset ? fmt::format(" (default: {})", option.preset) : "");
    });
    if (const std::string& examples = page.options.examples(); !examples.empty())
      out += ".PP\nExamples:\n" + roff_lines(examples);
  }
  return out +
         ".SH EXIT STATUS\n0 done, 1 failed, 2 not understood, 3 something became slower, 130 stopped by Ctrl-C.\n";
}

/// The options of \p page as words: `--size -s`.
std::string words_of(const CommandPage& page) {
  std::string words;
  for_each_option(page, [&](const Options::Option& option) {
    words += (words.empty() ? "--" : " --") + option.long_name();
    if (const std::string letter = option.short_name(); !letter.empty()) words += " -" + letter;
  });
  return words;
}

/// Adds the branch of `case` for \p page to \p cases. The branch of `tune` matches every other word, so it is the last.
void add_case(std::string& cases, const CommandPage& page, const std::string& what) {
  const bool is_last = page.name == "tune";
  cases.insert(is_last ? cases.size() : 0, fmt::format("    {}) {} ;;\n", is_last ? "*" : page.name, what));
}

/// Words that are not options are completed with the names of files.
std::string bash_completion(const std::vector<CommandPage>& pages) {
  std::string cases, names;
  for (const CommandPage& page : pages) {
    names += page.name + ' ';
    add_case(cases, page, fmt::format("words='{}'", words_of(page)));
  }
  return fmt::format(
      "_tune() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} words\n"
      "  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
      "  if [[ $current != -* ]]; then\n"
      "    words=''\n"
      "    if ((COMP_CWORD == 1)) || {{ ((COMP_CWORD == 2)) && [[ ${{COMP_WORDS[1]}} == help ]]; }}; then "
      "words='{}help'; fi\n"
      "  fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "}}\n"
      "complete -o default -F _tune tune\n",
      cases, names);
}

std::string zsh_completion(const std::vector<CommandPage>& pages) {
  std::string cases, names;
  for (const CommandPage& page : pages) {
    names += fmt::format(" '{}:{}'", page.name, escaped(page.summary, "'", "'\\'"));
    std::string arguments = "_arguments";
    for_each_option(page, [&](const Options::Option& option) {
      const std::string text = escaped(escaped(option.help, "[]:"), "'", "'\\'");
      const std::string value = option.kind == Options::Kind::flag ? "" : ":value:_files";
      for (const std::string& name : {"--" + option.long_name(), "-" + option.short_name()})
        if (name != "-") arguments += fmt::format(" \\\n      '*{}[{}]{}'", name, text, value);
    });
    add_case(cases, page, arguments + " '*:file:_files'");
  }
  return fmt::format(
      "#compdef tune\n"
      "local -a commands=({} 'help:the page of a command')\n"
      "if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n"
      "  _describe command commands\n  _files\n"
      "else\n  case $words[2] in\n{}  esac\nfi\n",
      names, cases);
}

}  // namespace

std::string manual(const std::string& as, const std::vector<CommandPage>& pages) {
  if (as == "man") return man_page(pages);
  if (as == "bash") return bash_completion(pages);
  if (as == "zsh") return zsh_completion(pages);
  throw UsageError("help --as: give man, bash or zsh");
}

}  // namespace tuner::cli
