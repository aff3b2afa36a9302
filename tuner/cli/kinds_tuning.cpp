#include <tuner/cli/kinds_tuning.hpp>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <tuner/cli/arguments.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/version.hpp>

namespace tuner::cli {
namespace {

class Kind final : public KeptEvents {
 public:
  Kind(DeviceChoice devices_, bool quiet) : devices(std::move(devices_)), console_(stderr, quiet) {}
  Console& console() override { return console_; }

  void tune(TuneRequest request, const TuneKind& with) try {
    code = with(std::move(request), devices, *this);
  } catch (const UsageError& wrong) {
    error = wrong.what();
    code = kUsage;
  } catch (const std::exception& failure) {
    error = failure.what();
  }

  const DeviceChoice devices;
  std::string error;
  int code = kFailed;

 private:
  Console console_;
};

}  // namespace

int tune_kinds(const TuneRequest& request, std::vector<DeviceChoice> devices, const TuneKind& tune) {
  for (const auto& [option, asked] : {std::pair{"--log", !request.log.empty()},
                                      {"--report", !request.report.empty()},
                                      {"--csv", !request.sweep.csv.empty()}})
    if (asked)
      throw UsageError(
          fmt::format("{} is of one kind of device, and --device {} names {} kinds ({}); give each kind its "
                      "own command",
                      option, request.device, devices.size(),
                      difference(devices[0].device.key.text(), devices[1].device.key.text())));
  std::deque<Kind> kinds;  // the first shows its progress
  for (DeviceChoice& one : devices) kinds.emplace_back(std::move(one), request.quiet || !kinds.empty());
  std::vector<std::thread> threads;
  for (Kind& kind : kinds) {
    TuneRequest one = request;
    one.quiet = request.quiet || &kind != &kinds.front();
    try {
      threads.emplace_back([&kind, &tune, one]() mutable { kind.tune(std::move(one), tune); });
    } catch (const std::system_error& failure) {
      kind.error = fmt::format("no thread can be started for it: {}", failure.what());
    }
  }
  for (std::thread& thread : threads) thread.join();

  Json documents = Json::array();
  int code = kDone;
  for (Kind& kind : kinds) {
    for (Json& document : kind.documents) documents.push_back(std::move(document));
    if (!request.json) std::fputs(fmt::format("\n{}\n{}", kind.devices.device.name, kind.text).c_str(), stdout);
    if (!kind.error.empty()) kind.console().error(kind.devices.device.name + ": " + kind.error);
    code = std::max(code, kind.code);
  }
  if (request.json) print_json({{"tuner", kVersion}, {"kinds", std::move(documents)}});
  return code;
}

}  // namespace tuner::cli
