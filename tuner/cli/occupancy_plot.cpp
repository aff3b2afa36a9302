#include <tuner/cli/occupancy_plot.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <tuner/core/format.hpp>
#include <tuner/replay/svg.hpp>

namespace tuner::cli {
namespace {

constexpr double kPanelWidth = 340, kPanelHeight = 232, kLeft = 48, kRight = 28, kTop = 36, kBottom = 44;
constexpr double kPlotRight = kPanelWidth - kRight, kPlotBottom = kPanelHeight - kBottom;
constexpr double kHeadingHeight = 44, kTitleHeight = 26;
constexpr std::string_view kCurve = "stroke=\"#0072B2\" stroke-width=\"1.6\"";

struct Panel {
  std::string axis;
  std::vector<OccupancyStep> steps;
  std::vector<std::int64_t> ticks;
  std::int64_t here = 0;
  std::string (*show)(std::int64_t) = [](std::int64_t amount) { return std::to_string(amount); };
};

std::string draw(const DeviceLimits& limits, const Panel& panel, double fraction_here) {
  const int warps = limits.max_threads_per_sm / limits.warp_size;
  const double most_warps = warps;
  const auto largest = static_cast<double>(std::max(panel.steps.back().last, panel.here));
  const auto x = [&](std::int64_t amount) {
    return kLeft + static_cast<double>(amount) / largest * (kPlotRight - kLeft);
  };
  const auto y = [](double fraction) { return kPlotBottom - fraction * (kPlotBottom - kTop); };

  std::string out = svg::text(kLeft, 22, "start", panel.axis, svg::kBold);
  for (const double fraction : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    out += svg::line(kLeft, kPlotRight, y(fraction), fraction > 0 ? svg::kGridStroke : svg::kAxisStroke);
    out += svg::text(kLeft - 8, y(fraction) + 4, "end", fmt::format("{:g}", fraction * most_warps));
  }
  for (const std::int64_t amount : panel.ticks)
    out += svg::tick(x(amount), kPlotBottom) + svg::text(x(amount), kPlotBottom + 18, "middle", panel.show(amount));
  // A step begins right after the step before it, as a demand is rounded up.
  std::string points;
  std::int64_t from = 0;
  for (const OccupancyStep& step : panel.steps) {
    for (const std::int64_t end : {from, step.last})
      points += fmt::format("{:.1f},{:.1f} ", x(end), y(step.occupancy.fraction));
    from = step.last;
  }
  out += svg::polyline(points, kCurve);
  return out + fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" fill=\"#D55E00\">{}</circle>\n",
                           x(panel.here), y(fraction_here),
                           svg::title(fmt::format("{}: {:g} warps, {}", panel.show(panel.here),
                                                  fraction_here * most_warps, format_percent(fraction_here))));
}

/// Powers of two apart, at most five.
std::vector<std::int64_t> shared_ticks(std::int64_t largest) {
  std::int64_t step = 1024;
  while (largest / step > 4) step *= 2;
  std::vector<std::int64_t> ticks;
  for (std::int64_t bytes = 0; bytes <= largest; bytes += step) ticks.push_back(bytes);
  return ticks;
}

std::string row(const DeviceLimits& limits, const OccupancySubject& subject) {
  const BlockNeed& need = subject.need;
  const Panel panels[] = {
      {"by threads a block", by_threads(limits, need), {128, 256, 512, 768, 1024}, need.threads},
      {"by registers a thread", by_registers(limits, need), {32, 64, 96, 128, 168, 255}, need.registers},
      {"by shared memory a block", by_shared_bytes(limits, need), shared_ticks(limits.max_shared_bytes),
       need.shared_bytes, [](std::int64_t bytes) { return format_bytes(bytes); }}};
  const double here = occupancy_of(limits, need).fraction;
  std::string out = svg::text(kLeft, 16, "start", subject.title);
  for (std::size_t i = 0; i < std::size(panels); ++i)
    out += svg::group(kPanelWidth * static_cast<double>(i), kTitleHeight, draw(limits, panels[i], here));
  return out;
}

}  // namespace

std::string occupancy_plot(const DeviceLimits& limits, const std::string& heading,
                           const std::vector<OccupancySubject>& subjects) {
  constexpr double row_height = kTitleHeight + kPanelHeight;
  std::string out = svg::text(kLeft, 28, "start", heading, svg::kHeading);
  double top = kHeadingHeight;
  for (const OccupancySubject& subject : subjects) {
    out += svg::group(0, top, row(limits, subject));
    top += row_height;
  }
  return svg::document(3 * kPanelWidth, top, out);
}

}  // namespace tuner::cli
