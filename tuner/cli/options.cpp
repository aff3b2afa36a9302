#include <tuner/cli/options.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sstream>

#include <boost/program_options/errors.hpp>
#include <boost/program_options/parsers.hpp>
#include <fmt/format.h>

#include <tuner/core/message_text.hpp>
#include <tuner/core/suggestion.hpp>

namespace tuner::cli {
namespace {

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

void add_help(po::options_description& options) { options.add_options()("help,h", "this text"); }

po::variables_map parse_options(int argc, char** argv, const po::options_description& options,
                                const std::vector<std::string>& positional) {
  namespace style = po::command_line_style;
  po::options_description all;
  all.add(options);
  po::positional_options_description places;
  for (const std::string& name : positional) {
    const bool many = name.ends_with("...");
    const std::string key = many ? name.substr(0, name.size() - 3) : name;
    if (options.find_nothrow(key, false) == nullptr)
      all.add_options()(key.c_str(), po::value<std::vector<std::string>>());
    places.add(key.c_str(), many ? -1 : 1);
  }
  try {
    po::variables_map given;
    po::store(po::command_line_parser(argc, argv)
                  .options(all)
                  .positional(places)
                  .style(style::default_style & ~style::allow_guessing)
                  .run(),
              given);
    po::notify(given);
    return given;
  } catch (const po::unknown_option& error) {
    throw UsageError(unknown_option(error.get_option_name(), options));
  } catch (const po::too_many_positional_options_error&) {
    throw UsageError("too many arguments: options start with two dashes, and values with blanks need quotes");
  } catch (const po::error& error) {
    throw UsageError(message_of(error, argc, argv));
  }
}

int print_help(const std::string& usage, const po::options_description& options, const std::string& examples) {
  std::ostringstream text;
  text << usage << "\n\n" << options;
  if (!examples.empty()) text << "\nExamples:\n" << examples;
  std::fputs(text.str().c_str(), stdout);
  return kDone;
}

std::string text_of(const po::variables_map& given, const char* option) {
  return given.count(option) ? given[option].as<std::string>() : std::string();
}

void refuse_options(const po::variables_map& given, std::initializer_list<const char*> options,
                    std::string_view where) {
  for (const char* option : options)
    if (given.count(option) && !given[option].defaulted())
      throw UsageError(fmt::format("--{} has no effect {}", option, where));
}

Texts texts_of(const po::variables_map& given, const char* option) {
  return given.count(option) ? given[option].as<Texts>() : Texts{};
}

}  // namespace tuner::cli
