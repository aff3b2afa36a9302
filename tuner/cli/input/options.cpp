#include <tuner/cli/input/options.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <sstream>

#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <boost/program_options/value_semantic.hpp>
#include <boost/program_options/variables_map.hpp>

#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/count.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner::cli {
namespace {

namespace po = boost::program_options;

std::optional<double> read_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

[[noreturn]] void reject(std::string_view option, std::string_view text, std::string_view wanted) {
  throw UsageError("{}: {} is not {}", option, in_quotes(text), wanted);
}

/// `nx = 3` becomes `nx=3`, so that blanks can separate what commas can.
std::string without_blanks_around_equals(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '=')
      while (!result.empty() && result.back() == ' ') result.pop_back();
    if (c != ' ' || result.empty() || result.back() != '=') result += c;
  }
  return result;
}

double unit_seconds(std::string_view unit) {
  static const std::pair<std::string_view, double> units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1},
                                                              {"sec", 1},   {"m", 60},    {"min", 60},  {"h", 3600}};
  for (const auto& [name, seconds] : units)
    if (name == unit) return seconds;
  return 0;
}

std::string unknown_option(const std::string& given, const std::vector<Options::Group>& groups) {
  std::vector<std::string> known{"help"};
  for (const Options::Group& group : groups)
    for (const Options::Option& option : group.options) known.push_back(option.long_name());
  const std::string bare = given.substr(std::min(given.find_first_not_of('-'), given.size()));
  const std::string name = bare.substr(0, bare.find('='));
  const auto nearest = nearest_name(name, known);
  return "unknown option " + in_quotes(given) + (nearest ? "; did you mean '--" + *nearest + "'?" : "");
}

/// Boost replaces '%canonical_option%' in its messages by what was typed, and never ends if that contains it again.
std::string message_of(const po::error& error, const Texts& words) {
  const auto typed = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.starts_with('-') && word.find('%') != std::string::npos;
  });
  return typed == words.end() ? error.what() : fmt::format("'{}' is not an option of this command", *typed);
}

const po::value_semantic* value_of(const Options::Option& option) {
  if (option.kind == Options::Kind::flag) return po::bool_switch();
  if (option.kind == Options::Kind::text) {
    auto* const value = po::value<std::string>()->value_name(option.value);
    return option.preset ? value->default_value(option.preset) : value;
  }
  auto* const value = po::value<Texts>()->value_name(option.value)->composing();
  return option.preset ? value->default_value({option.preset}, option.preset) : value;
}

/// As Boost has them. \p common: with those that most commands have.
po::options_description described(const std::vector<Options::Group>& groups, bool common) {
  constexpr unsigned kHelpWidth = 80;
  po::options_description all("", kHelpWidth, kHelpWidth / 2 + 8);
  for (const Options::Group& group : groups) {
    po::options_description part(group.title, kHelpWidth, kHelpWidth / 2 + 8);
    for (const Options::Option& one : group.options)
      if (common || !one.is_common) part.add_options()(one.name, value_of(one), one.help);
    if (!part.options().empty()) all.add(part);
  }
  return all;
}

}  // namespace

std::int64_t parse_count(std::string_view text, std::string_view option, std::int64_t low, std::int64_t high) {
  const std::string_view word = trimmed(text);
  const bool is_negative = word.starts_with('-');
  const auto magnitude = tuner::parse_count(word.substr(is_negative ? 1 : 0));
  if (!magnitude) throw UsageError("{}: {}", option, not_a_count(text));
  const std::int64_t count = is_negative ? -*magnitude : *magnitude;
  if (count < low && high == kAnyCount) throw UsageError("{}: must be at least {}, not {}", option, low, word);
  if (count < low || count > high) throw UsageError("{}: {} is not between {} and {}", option, text, low, high);
  return count;
}

std::chrono::duration<double> parse_duration(std::string_view text, std::string_view option) {
  double seconds = 0;
  for (std::string_view rest = trimmed(text); !rest.empty();) {
    const auto unit_at = std::min(rest.find_first_not_of("0123456789."), rest.size());
    const auto unit_end = std::min(rest.find_first_of("0123456789.", unit_at), rest.size());
    const auto number = read_double(rest.substr(0, unit_at));
    const double unit = unit_seconds(rest.substr(unit_at, unit_end - unit_at));
    seconds = number && unit > 0 ? seconds + *number * unit : -HUGE_VAL;
    rest.remove_prefix(unit_end);
  }
  if (!(seconds > 0) || !std::isfinite(seconds))
    reject(option, text, "a time with a unit, such as 30s, 1m30s, 500ms or 12us");
  return std::chrono::duration<double>(seconds);
}

double parse_number(std::string_view text, std::string_view option, double low, double high) {
  const auto value = read_double(trimmed(text));
  if (!value) reject(option, text, "a number");
  if (*value < low || *value > high) throw UsageError("{}: {} is not between {} and {}", option, text, low, high);
  return *value;
}

Configuration parse_configuration(const std::string& text, std::string_view option) try {
  return Configuration::parse(text);
} catch (const std::invalid_argument& error) {
  throw UsageError("{}: {}", option, error.what());
}

std::vector<std::string> split(const std::vector<std::string>& texts, char separator) {
  std::vector<std::string> parts;
  for (const std::string_view text : texts) {
    for (std::size_t start = 0; start <= text.size();) {
      const std::size_t end = std::min(text.find(separator, start), text.size());
      if (const auto part = trimmed(text.substr(start, end - start)); !part.empty()) parts.emplace_back(part);
      start = end + 1;
    }
  }
  return parts;
}

std::map<std::string, std::vector<std::string>> parse_lists(std::string_view text, std::string_view option) {
  std::map<std::string, std::vector<std::string>> lists;
  std::vector<std::string>* latest = nullptr;
  for (const std::string& part : split(split({without_blanks_around_equals(text)}, ','), ' ')) {
    const auto equals = part.find('=');
    if (equals == 0 || equals + 1 == part.size() || (equals == std::string::npos && latest == nullptr))
      throw UsageError("{}: {} is not NAME=VALUE", option, in_quotes(part));
    if (equals == std::string::npos) {
      latest->push_back(part);
      continue;
    }
    const auto [list, is_new] = lists.try_emplace(part.substr(0, equals));
    if (!is_new) throw UsageError("{}: {} is given twice", option, in_quotes(list->first));
    latest = &list->second;
    latest->push_back(part.substr(equals + 1));
  }
  return lists;
}

std::map<std::string, std::string> parse_assignments(std::string_view text, std::string_view option) {
  std::map<std::string, std::string> values;
  for (const auto& [name, list] : parse_lists(text, option)) {
    if (list.size() > 1) throw UsageError("{}: {} is not NAME=VALUE", option, in_quotes(list[1]));
    values[name] = list[0];
  }
  return values;
}

std::map<std::string, std::int64_t> parse_sizes(std::string_view text, std::string_view option) {
  std::map<std::string, std::int64_t> sizes;
  for (const auto& [name, value] : parse_assignments(text, option)) sizes[name] = parse_count(value, option);
  if (sizes.empty()) throw UsageError("{}: no sizes given; write for example nx=4096,ny=4096", option);
  return sizes;
}

void require_known(std::string_view what, const std::string& name, const std::vector<std::string>& known) {
  if (!contains(known, name)) throw UsageError(unknown_name(what, name, known));
}

std::vector<std::string> split_words(std::string_view line, const std::string& place) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string> words;
  for (std::size_t at = line.find_first_not_of(kBlanks); at < line.size() && line[at] != '#';
       at = line.find_first_not_of(kBlanks, at)) {
    std::string& word = words.emplace_back();
    while (at < line.size() && kBlanks.find(line[at]) == std::string_view::npos) {
      const char c = line[at++];
      if (c != '\'' && c != '"') {
        word += c;
        continue;
      }
      const std::size_t end = line.find(c, at);
      if (end == std::string_view::npos) throw UsageError("{}: a quote ({}) is not closed", place, c);
      word += line.substr(at, end - at);
      at = end + 1;
    }
  }
  return words;
}

bool Given::has(const std::string& option) const {
  const auto at = values_.find(option);
  return at != values_.end() && !at->second.is_default;
}

std::string Given::text(const std::string& option) const {
  const auto at = values_.find(option);
  return at == values_.end() || at->second.texts.empty() ? std::string() : at->second.texts.front();
}

Texts Given::texts(const std::string& option) const {
  const auto at = values_.find(option);
  return at == values_.end() ? Texts() : at->second.texts;
}

std::string Given::only(const std::string& option) const {
  if (texts(option).size() > 1) throw UsageError("--{}: this command takes only one", option);
  return text(option);
}

void Given::refuse(std::initializer_list<const char*> options, std::string_view where) const {
  for (const char* option : options)
    if (has(option)) throw UsageError("--{} has no effect {}", option, where);
}

std::string Options::Option::long_name() const { return std::string(name, std::strcspn(name, ",")); }

std::string Options::Option::short_name() const {
  const char* const comma = std::strchr(name, ',');
  return comma ? comma + 1 : "";
}

const std::vector<Options::Option>& Options::shared() {
  constexpr Kind kFlag = Kind::flag, kText = Kind::text, kTexts = Kind::texts;
  constexpr bool kCommon = true;
  static const std::vector<Option> all{
      {kText, "kernel,k", "KERNEL", "the kernel: a name (`tune list`) or a file", nullptr, kCommon},
      {kText, "db", "FILE", "the database; default: wisdom.db in the cache folder", nullptr, kCommon},
      {kFlag, "force,f", "", "replace files that tuner did not write; measure what is known", nullptr, kCommon},
      {kFlag, "json", "", "one JSON document on standard output", nullptr, kCommon},
      {kTexts, "size,s", "nx=4096,ny=4k",
       "problem size; 4k, 16M, 1e6 and 2^24 are numbers; to give several sizes, repeat it or separate them by `;`"},
      {kTexts, "type", "float", "element type; several are separated by commas"},
      {kTexts, "choice", "NAME=VALUE",
       "another choice of the kernel, such as operation=max; several values are separated by commas"},
      {kText, "config,c", "\"block=64\"", "the configuration; parameters that it does not name keep their usual value"},
      {kText, "device,d", "auto|host|cuda|0",
       "the device; auto: the first GPU, else the host; for stored results: a key, a name, or a unique part of one"},
      {kText, "as", "single|hot|stream|graph",
       "the use: by itself with a cold or warm L2 cache, after another kernel, or as a node of a CUDA graph; each has "
       "its own results",
       "single"},
      {kTexts, "metrics", "LIST",
       "hardware counters and energy to collect after timing, separated by commas; `textbook` and `roofline` are sets, "
       "and `tune devices --metrics` lists all"},
      {kTexts, "arch", "sm_90", "the architecture: a chip, for work without a GPU"},
      {kText, "effort", "none|quick|normal|thorough", "how much an answer may cost; none: nothing is measured"},
      {kTexts, "budget,b", "30s|5%", "end after this time, or this part of the valid configurations"},
      {kText, "trials,n", "N", "end after so many configurations"},
      {kText, "target", "12us|80%", "end when the objective is as good as this, in its unit"},
      {kText, "until-unlikely", "P", "end when an improvement by 1% is less likely than this, 0 to 1"},
      {kTexts, "strategy", "NAME", "how the space is searched (`tune replay --list`)", "auto"},
      {kTexts, "option", "NAME=X", "option of the strategy; may be repeated"},
      {kText, "seed", "N", "of the search", "1"},
      {kFlag, "all", "", "everything, not only the most important part"},
      {kText, "plot", "FILE.svg", "draw a picture"},
      {kText, "output,o", "FILE", "the file to write; - is standard output"}};
  return all;
}

Options::Options(std::string usage, std::string examples)
    : usage_(std::move(usage)), examples_(std::move(examples)), groups_{{"Options", {}}} {}

Options& Options::add(std::string_view names) {
  for (const std::string& name : split({std::string(names)}, ' ')) {
    const auto at =
        std::find_if(shared().begin(), shared().end(), [&](const Option& one) { return one.long_name() == name; });
    if (at == shared().end()) throw std::logic_error("no command shares an option " + name);
    groups_.back().options.push_back(*at);
  }
  return *this;
}

Options& Options::flag(const char* name, const char* help) {
  groups_.back().options.push_back({Kind::flag, name, "", help});
  return *this;
}

Options& Options::text(const char* name, const char* value, const char* help, const char* preset) {
  groups_.back().options.push_back({Kind::text, name, value, help, preset});
  return *this;
}

Options& Options::texts(const char* name, const char* value, const char* help) {
  groups_.back().options.push_back({Kind::texts, name, value, help});
  return *this;
}

Options& Options::arguments(Texts names) {
  arguments_ = std::move(names);
  return *this;
}

Options& Options::group(const char* title) {
  if (groups_.back().options.empty()) groups_.pop_back();
  groups_.push_back({title, {}});
  return *this;
}

Given Options::read(const Texts& words) const {
  namespace style = po::command_line_style;
  po::options_description all = described(groups_, true);
  all.add_options()("help,h", "");
  po::positional_options_description places;
  for (const std::string& name : arguments_) {
    const bool many = name.ends_with("...");
    const std::string key = many ? name.substr(0, name.size() - 3) : name;
    if (all.find_nothrow(key, false) == nullptr) all.add_options()(key.c_str(), po::value<Texts>());
    places.add(key.c_str(), many ? -1 : 1);
  }
  po::variables_map values;
  try {
    po::store(po::command_line_parser(words)
                  .options(all)
                  .positional(places)
                  .style(style::default_style & ~style::allow_guessing)
                  .run(),
              values);
    po::notify(values);
  } catch (const po::unknown_option& error) {
    throw UsageError(unknown_option(error.get_option_name(), groups_));
  } catch (const po::too_many_positional_options_error&) {
    throw UsageError("too many arguments: options start with two dashes, and values with blanks need quotes");
  } catch (const po::error& error) {
    throw UsageError(message_of(error, words));
  }
  Given given;
  for (const auto& [name, value] : values) {
    const auto* const text = boost::any_cast<std::string>(&value.value());
    const auto* const texts = boost::any_cast<Texts>(&value.value());
    given.values_[name] = {texts ? *texts : text ? Texts{*text} : Texts{}, value.defaulted()};
  }
  if (const Texts files = given.texts("file"); std::count(files.begin(), files.end(), "-") > 1)
    throw UsageError("standard input (-) can be read only once");
  return given;
}

std::string Options::help() const {
  std::ostringstream text;
  text << usage_ << "\n" << described(groups_, false);
  std::string also;
  for (const Group& group : groups_)
    for (const Option& one : group.options)
      if (one.is_common)
        also += fmt::format("--{}{}{}, ", one.long_name(), one.kind == Kind::flag ? "" : " ", one.value);
  text << "\nAlso " << also << "--help (`tune help`).\n";
  if (!examples_.empty()) text << "\nExamples:\n" << examples_;
  return text.str();
}

std::string Options::common_help() {
  Group common{"Options of most commands", {}};
  for (const Option& one : shared())
    if (one.is_common) common.options.push_back(one);
  common.options.push_back({Kind::flag, "help,h", "", "the page of a command"});
  common.options.push_back({Kind::flag, "version", "", "the version of tuner"});
  std::ostringstream text;
  text << described({common}, true);
  return text.str();
}

}  // namespace tuner::cli
