#include <tuner/cli/list_command.hpp>

#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tuner/cli/json.hpp>
#include <tuner/cli/kernel_options.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/format.hpp>
#include <tuner/session/kernel_library.hpp>

namespace tuner::cli {
namespace {

std::string sizes_text(const KernelSpec& spec) {
  std::string text;
  for (const SizeSpec& size : spec.sizes) text += (text.empty() ? "" : " ") + size.name;
  return text;
}

std::string choices_text(const KernelSpec& spec) {
  std::string text;
  for (const ChoiceSpec& choice : spec.choices) {
    text += (text.empty() ? "" : "; ") + choice.name + '=';
    for (std::size_t i = 0; i < choice.values.size(); ++i) text += (i ? "," : "") + choice.values[i];
  }
  return text;
}

}  // namespace

int list_command(int argc, char** argv) {
  po::options_description options("Options", 110);
  auto add = options.add_options();
  add("template-path", po::value<Texts>()->value_name("DIR"), "look here first; may be repeated");
  add("json", po::bool_switch(), "one JSON document on stdout");
  add_help(options);
  const po::variables_map given = parse_options(argc, argv, options);
  if (given.count("help"))
    return print_help("Usage: tune list [options]\nThe kernels that --kernel knows by name.", options, "");

  const KernelLibrary library(template_path(given));
  Table table({{"kernel"}, {"sizes"}, {"combinations", Table::Align::right}, {"from"}, {"choices"}});
  Json kernels = Json::array();
  for (const KernelLibrary::Entry& entry : library.list()) try {
      const KernelSpec spec = library.find(entry.name);
      table.add({entry.name, sizes_text(spec), format_count(spec.space.product()), entry.origin, choices_text(spec)});
      kernels.push_back({{"name", entry.name}, {"origin", entry.origin}, {"product", spec.space.product()}});
    } catch (const Error& error) {
      table.add({entry.name, "", "", entry.origin, fmt::format("unreadable: {}", error.what())});
      kernels.push_back({{"name", entry.name}, {"origin", entry.origin}, {"error", error.what()}});
    }
  if (given["json"].as<bool>())
    print_json({{"kernels", kernels}});
  else
    std::fputs(table.text("").c_str(), stdout);
  return kDone;
}

}  // namespace tuner::cli
