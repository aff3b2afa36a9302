#pragma once
/// `tune report`: one HTML file that shows what a database holds.

namespace tuner::cli {

/// Returns the exit code; throws UsageError and tuner::Error.
int report_command(int argc, char** argv);

}  // namespace tuner::cli
