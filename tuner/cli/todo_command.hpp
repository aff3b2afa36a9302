#pragma once
/// `tune todo`: lists the calls that were served without a result for their problem.

namespace tuner::cli {

int todo_command(int argc, char** argv);

}  // namespace tuner::cli
