#pragma once
/// The commands of `tune`, each in a file by its name.

#include <tuner/cli/options.hpp>

namespace tuner::cli {

Command compare_command();
Command convert_command();
Command db_command();
Command devices_command();
Command list_command();
Command occupancy_command();
Command replay_command();
Command report_command();
Command run_command();
Command show_command();

/// Parts of commands: `tune devices --metrics`, `tune show --why` and `tune show --missed`.
int list_metrics(const Given& given);
int show_why(const Given& given);
int show_missed(const Given& given);

}  // namespace tuner::cli
