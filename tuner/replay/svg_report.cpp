#include <tuner/replay/svg_report.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <tuner/replay/svg.hpp>

namespace tuner::replay {
namespace {

constexpr double kPanelWidth = 420;
constexpr double kPanelHeight = 272;
constexpr double kLeft = 52;
constexpr double kRight = 24;
constexpr double kTop = 40;
constexpr double kBottom = 44;
constexpr std::size_t kColumns = 3;
/// More than the mean width of a character of 12 pixels in common fonts, so that no text is cut.
constexpr double kCharacter = 7.2;
constexpr double kLegendLine = 20;
/// Okabe and Ito's colours, which colour-blind people can distinguish.
constexpr std::array<std::string_view, 8> kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                   "#E69F00", "#56B4E9", "#7F3C8D", "#999900"};

constexpr double kPlotRight = kPanelWidth - kRight;
constexpr double kPlotBottom = kPanelHeight - kBottom;

std::string stroke_of(std::size_t strategy) {
  return fmt::format("stroke=\"{}\" stroke-width=\"1.6\"", kColours[strategy % kColours.size()]);
}
constexpr std::string_view kRandomStroke = "stroke=\"#555\" stroke-width=\"1.6\" stroke-dasharray=\"5 4\"";

double width_of(std::string_view text) {
  // Continuation bytes of UTF-8 have no width.
  return kCharacter *
         static_cast<double>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string shortened(std::string text, double width) {
  if (width_of(text) <= width) return text;
  while (!text.empty() && width_of(text) > width - kCharacter) {
    while ((text.back() & 0xC0) == 0x80) text.pop_back();
    text.pop_back();
  }
  return text + "\u2026";
}

/// Steps of 1, 2 or 5 from \p low to \p high, about \p count of them.
std::vector<double> round_ticks(double low, double high, double count) {
  const double rough = (high - low) / count;
  if (!(rough > 0)) return {low};
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double one : {5.0, 2.0, 1.0})
    if (one * power >= 0.999 * rough) step = one * power;
  std::vector<double> ticks;
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) ticks.push_back(i * step);
  return ticks;
}

struct TimeUnit {
  std::string_view name;
  double seconds;
};

/// The unit in which a time axis up to \p seconds has few digits.
TimeUnit unit_of(double seconds) {
  if (seconds < 2e-3) return {"us", 1e-6};
  if (seconds < 2) return {"ms", 1e-3};
  if (seconds < 300) return {"s", 1};
  if (seconds < 5 * 3600) return {"min", 60};
  return {"h", 3600};
}

std::string panel(const ReplayReport& report, std::size_t number) {
  const ReplaySpace& space = report.spaces[number];
  const std::vector<double>& times = space.times;
  const double early = share_of_optimum(space.optimum, space.baseline[space.baseline.size() / 20]);
  const double low = std::clamp(std::floor(std::min(early, 1.0) * 10) / 10, 0.0, 0.9);  // at the lower edge
  // Convert times and fractions of the optimum to pixels.
  const double begin = times.front(), length = times.back() > begin ? times.back() - begin : 1;
  const auto x = [&](double time) { return kLeft + (time - begin) / length * (kPlotRight - kLeft); };
  const auto y = [&](double fraction) {
    return kPlotBottom - (std::max(fraction, low) - low) / (1 - low) * (kPlotBottom - kTop);
  };
  // Bold letters are wider.
  std::string out =
      svg::group(0, 0,
                 svg::title(space.name) +
                     svg::text(kLeft, 22, "start", shortened(space.name, (kPanelWidth - kLeft) / 1.12), svg::kBold));
  for (const double fraction : round_ticks(low, 1, 5)) {
    out += svg::line(kLeft, kPlotRight, y(fraction), svg::kGridStroke);
    out += svg::text(kLeft - 8, y(fraction) + 4, "end", fmt::format("{:.0f}%", 100 * fraction));
  }
  const TimeUnit unit = unit_of(times.back());
  for (const double tick : round_ticks(begin / unit.seconds, times.back() / unit.seconds, 5)) {
    out += svg::tick(x(tick * unit.seconds), kPlotBottom);
    out += svg::text(x(tick * unit.seconds), kPlotBottom + 18, "middle", fmt::format("{:g} {}", tick, unit.name));
  }
  out += svg::line(kLeft, kPlotRight, kPlotBottom, svg::kAxisStroke);
  out += svg::text((kLeft + kPlotRight) / 2, kPanelHeight - 8, "middle", "time of tuning");
  const auto curve = [&](const std::vector<double>& objectives, std::string_view stroke) {
    std::string points;
    const std::size_t step = std::max<std::size_t>(1, times.size() / 250);
    for (std::size_t i = 0; i < times.size() && i < objectives.size(); i += step)
      points += fmt::format("{:.1f},{:.1f} ", x(times[i]), y(share_of_optimum(space.optimum, objectives[i])));
    out += svg::polyline(points, stroke);
  };
  curve(space.baseline, kRandomStroke);
  for (std::size_t i = 0; i < report.aggregates.size(); ++i) curve(space.results[i].score.curve, stroke_of(i));
  return out;
}

struct Legend {
  std::string text;
  double bottom;
};

/// Names and strokes in lines of at most \p width; the first at \p y.
Legend legend(const ReplayReport& report, double width, double y) {
  Legend out{{}, y};
  double x = kLeft;
  const auto entry = [&](const std::string& name, std::string_view stroke) {
    const std::string shown = shortened(name, width - kLeft - 30);
    if (x > kLeft && x + 30 + width_of(shown) > width) x = kLeft, out.bottom += kLegendLine;
    out.text += svg::line(x, x + 22, out.bottom - 4, stroke);
    out.text += svg::text(x + 30, out.bottom, "start", shown);
    x += 30 + width_of(shown) + 16;
  };
  entry("random search, expected", kRandomStroke);
  for (std::size_t i = 0; i < report.aggregates.size(); ++i)
    entry(fmt::format("{} ({:.2f})", report.aggregates[i].strategy, report.aggregates[i].score), stroke_of(i));
  return out;
}

}  // namespace

std::string svg_report(const ReplayReport& report) {
  const std::size_t spaces = std::max<std::size_t>(report.spaces.size(), 1);
  const double width = kPanelWidth * static_cast<double>(std::min(kColumns, spaces));
  const Legend names = legend(report, width - kRight, 70);
  const double top = names.bottom + 14;
  const std::size_t rows = (spaces + kColumns - 1) / kColumns;
  const double height = top + kPanelHeight * static_cast<double>(rows) + 8;
  std::string out = svg::text(kLeft, 28, "start", "Best so far, in percent of the optimum", svg::kHeading);
  out += svg::text(kLeft, 47, "start", fmt::format("mean of {} repeats; in brackets the score", report.repeats));
  out += names.text;
  for (std::size_t i = 0; i < report.spaces.size(); ++i) {
    const std::size_t row = i / kColumns, column = i % kColumns;
    out += svg::group(kPanelWidth * static_cast<double>(column), top + kPanelHeight * static_cast<double>(row),
                      panel(report, i));
  }
  return svg::document(width, height, out);
}

}  // namespace tuner::replay
