#include <tuner/cli/commands/program.hpp>

#include <fmt/ranges.h>

#include <tuner/cli/commands/database_options.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/session/tuning/kernel_library.hpp>

namespace tuner::cli {
namespace {

std::string choices_text(const KernelSpec& spec) {
  std::string text;
  for (const ChoiceSpec& choice : spec.choices)
    text += fmt::format("{}{}={}", text.empty() ? "" : "; ", choice.name, fmt::join(choice.values, ","));
  return text;
}

int run_list(const Given& given) {
  const KernelLibrary library;
  if (const std::string missing = library.missing_folders(); !missing.empty()) warn(missing);
  Table table({named("kernel", "name"), "sizes", named("combinations", "product"), named("from", "origin"), "choices",
               data("error")});
  for (const KernelLibrary::Entry& entry : library.list()) try {
      const KernelSpec spec = library.find(entry.name);
      table.add({entry.name, fmt::format("{}", fmt::join(names_of(spec.sizes), " ")), Cell::count(spec.space.product()),
                 entry.origin, choices_text(spec)});
    } catch (const Error& error) {
      table.add({entry.name, {}, {}, entry.origin, fmt::format("unreadable: {}", error.what()), error.what()});
    }
  return Answer().rows("kernels", table, "").print(given);
}

}  // namespace

Command list_command() {
  return {Options("Usage: tune list\n"
                  "The kernels that have a name: those in the folders of $TUNER_TEMPLATE_PATH, and\n"
                  "the built-in ones.")
              .add("json"),
          run_list};
}

}  // namespace tuner::cli
