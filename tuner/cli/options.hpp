#pragma once
/// Parsing of one command's options with messages that help, and what all commands share.

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/positional_options.hpp>
#include <boost/program_options/value_semantic.hpp>
#include <boost/program_options/variables_map.hpp>

#include <tuner/cli/arguments.hpp>
#include <tuner/core/message_text.hpp>

namespace tuner::cli {

namespace po = boost::program_options;

using Texts = std::vector<std::string>;

inline constexpr int kDone = 0, kFailed = 1, kUsage = 2;

/// `--help`, which every command has.
void add_help(po::options_description& options);

/// \p argv[0] is the command's name. \p positional: names of the arguments without a dash, in order; the last takes
/// all that are left when it ends in `...`. Throws UsageError with a suggestion for misspelt options.
po::variables_map parse_options(int argc, char** argv, const po::options_description& options,
                                const std::vector<std::string>& positional = {});

/// Prints usage, a line each of \p usage, the options and \p examples to stdout. Returns kDone.
int print_help(const std::string& usage, const po::options_description& options, const std::string& examples);

/// Value of a string option, or nothing: "".
std::string text_of(const po::variables_map& given, const char* option);
/// Throws UsageError for the first of \p options that was given, which has no effect \p where: "with --dry-run".
void refuse_options(const po::variables_map& given, std::initializer_list<const char*> options, std::string_view where);
/// Values of an option that may be repeated, or of arguments without a dash.
Texts texts_of(const po::variables_map& given, const char* option);

}  // namespace tuner::cli
