#include <tuner/cli/options.hpp>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <utility>

#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <boost/program_options/value_semantic.hpp>
#include <boost/program_options/variables_map.hpp>
#include <fmt/format.h>

#include <tuner/core/suggestion.hpp>

namespace tuner::cli {
namespace {

namespace po = boost::program_options;

std::string unknown_option(const std::string& given, const po::options_description& options) {
  std::vector<std::string> known;
  for (const auto& option : options.options()) known.push_back(option->long_name());
  const std::string bare = given.substr(std::min(given.find_first_not_of('-'), given.size()));
  const std::string name = bare.substr(0, bare.find('='));
  const auto nearest = nearest_name(name, known);
  return "unknown option " + in_quotes(given) + (nearest ? "; did you mean '--" + *nearest + "'?" : "");
}

/// Boost replaces '%canonical_option%' in its messages by what was typed, and never ends if that contains it again.
std::string message_of(const po::error& error, int argc, char** argv) {
  const auto typed = std::find_if(argv, argv + argc,
                                  [](const char* text) { return text[0] == '-' && std::strchr(text, '%') != nullptr; });
  return typed == argv + argc ? error.what() : fmt::format("'{}' is no option of this command", *typed);
}

}  // namespace

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

void Given::refuse(std::initializer_list<const char*> options, std::string_view where) const {
  for (const char* option : options)
    if (has(option)) throw UsageError(fmt::format("--{} has no effect {}", option, where));
}

Options::Options(std::string usage, std::string examples)
    : usage_(std::move(usage)), examples_(std::move(examples)), groups_{{"Options", {}}} {}

Options& Options::flag(const char* name, const char* help) {
  groups_.back().options.push_back({Kind::flag, name, "", help, nullptr});
  return *this;
}

Options& Options::text(const char* name, const char* value, const char* help, const char* preset) {
  groups_.back().options.push_back({Kind::text, name, value, help, preset});
  return *this;
}

Options& Options::texts(const char* name, const char* value, const char* help, const char* preset) {
  groups_.back().options.push_back({Kind::texts, name, value, help, preset});
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

/// As Boost has them.
struct Options::Described {
  explicit Described(const Options& options) {
    for (const Group& group : options.groups_) {
      po::options_description part(group.title, kHelpWidth);
      for (const Option& one : group.options) part.add_options()(one.name, value_of(one), one.help);
      if (&group == &options.groups_.back()) part.add_options()("help,h", "this text");
      all.add(part);
    }
  }

  static const po::value_semantic* value_of(const Option& option) {
    if (option.kind == Kind::flag) return po::bool_switch();
    if (option.kind == Kind::text) {
      auto* const value = po::value<std::string>()->value_name(option.value);
      return option.preset ? value->default_value(option.preset) : value;
    }
    auto* const value = po::value<Texts>()->value_name(option.value)->composing();
    if (std::string_view(option.value).ends_with("...")) value->multitoken();
    return option.preset ? value->default_value({option.preset}, option.preset) : value;
  }

  static constexpr unsigned kHelpWidth = 110;
  po::options_description all{"", kHelpWidth};
};

Given Options::read(int argc, char** argv) const {
  namespace style = po::command_line_style;
  const Described described(*this);
  po::options_description all;
  all.add(described.all);
  po::positional_options_description places;
  for (const std::string& name : arguments_) {
    const bool many = name.ends_with("...");
    const std::string key = many ? name.substr(0, name.size() - 3) : name;
    if (all.find_nothrow(key, false) == nullptr) all.add_options()(key.c_str(), po::value<Texts>());
    places.add(key.c_str(), many ? -1 : 1);
  }
  po::variables_map values;
  try {
    po::store(po::command_line_parser(argc, argv)
                  .options(all)
                  .positional(places)
                  .style(style::default_style & ~style::allow_guessing)
                  .run(),
              values);
    po::notify(values);
  } catch (const po::unknown_option& error) {
    throw UsageError(unknown_option(error.get_option_name(), described.all));
  } catch (const po::too_many_positional_options_error&) {
    throw UsageError("too many arguments: options start with two dashes, and values with blanks need quotes");
  } catch (const po::error& error) {
    throw UsageError(message_of(error, argc, argv));
  }
  Given given;
  for (const auto& [name, value] : values) {
    const auto* const text = boost::any_cast<std::string>(&value.value());
    const auto* const texts = boost::any_cast<Texts>(&value.value());
    given.values_[name] = {texts ? *texts : text ? Texts{*text} : Texts{}, value.defaulted()};
  }
  return given;
}

std::string Options::help() const {
  std::ostringstream text;
  text << usage_ << "\n" << Described(*this).all;
  if (!examples_.empty()) text << "\nExamples:\n" << examples_;
  return text.str();
}

}  // namespace tuner::cli
