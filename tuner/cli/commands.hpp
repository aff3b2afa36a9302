#pragma once
/// The commands of `tune`, each in a file by its name.

#include <tuner/cli/options.hpp>

namespace tuner::cli {

Command cache_command();
Command compare_command();
Command convert_command();
Command devices_command();
Command explain_command();
Command export_command();
Command freeze_command();
Command import_command();
Command list_command();
Command merge_command();
Command metrics_command();
Command occupancy_command();
Command replay_command();
Command report_command();
Command run_command();
Command show_command();
Command todo_command();

}  // namespace tuner::cli
