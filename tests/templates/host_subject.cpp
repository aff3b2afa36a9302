#include <tuner/backend/host/host_backend.hpp>

#include "sample.hpp"

namespace tuner::testing {

Subject subject() {
  HostOptions options;
  options.compile_timeout_s = 600;  // hundreds of variants at once, on a machine that may be busy
  options.cache_directory = TUNER_BINARY_DIR "/templates-objects";  // a second run compiles nothing
  Subject result;
  result.backend = make_host_backend(options);
  return result;
}

}  // namespace tuner::testing
