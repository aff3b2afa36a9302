#pragma once
/// The worker's side of the protocol: answers messages until it is told to quit, the pipe ends, or its device is lost.

namespace tuner::worker {

/// Reads messages from \p in and writes answers to \p out. Returns the process's exit status.
int serve(int in, int out);

}  // namespace tuner::worker
