#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <boost/algorithm/string/replace.hpp>
#include <fmt/format.h>

#include <tuner/replay/replay_run.hpp>

namespace tuner::replay {

namespace {

constexpr double kPanelWidth = 420;
constexpr double kPanelHeight = 260;
constexpr double kLeft = 56;
constexpr double kRight = 12;
constexpr double kTop = 34;
constexpr double kBottom = 40;
constexpr std::size_t kColumns = 3;
/// Okabe and Ito's colours: told apart by everybody.
constexpr std::array<std::string_view, 8> kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                   "#E69F00", "#56B4E9", "#7F3C8D", "#999900"};

std::string escaped(std::string text) {
  boost::replace_all(text, "&", "&amp;");
  boost::replace_all(text, "<", "&lt;");
  return text;
}

std::string text(double x, double y, std::string_view anchor, std::string_view content, std::string_view style = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, style,
                     escaped(std::string(content)));
}

constexpr double kPlotRight = kPanelWidth - kRight;
constexpr double kPlotBottom = kPanelHeight - kBottom;

/// Horizontal, of the stroke \p style.
std::string line(double x1, double x2, double y, std::string_view style) {
  return fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, x2, y, y, style);
}

std::string stroke_of(std::size_t strategy) {
  return fmt::format("stroke=\"{}\" stroke-width=\"1.6\"", kColours[strategy % kColours.size()]);
}
constexpr std::string_view kRandomStroke = "stroke=\"#555\" stroke-width=\"1.6\" stroke-dasharray=\"5 4\"";

std::string panel(const ReplayReport& report, std::size_t number) {
  const ReplaySpace& space = report.spaces[number];
  const std::vector<double>& times = space.times;
  const double early = share_of_optimum(space.optimum, space.baseline[space.baseline.size() / 20]);
  const double low = std::clamp(std::floor(std::min(early, 1.0) * 10) / 10, 0.0, 0.9);  // at the lower edge
  // To pixels: shares of the time and fractions of the optimum.
  const auto x = [](double share) { return kLeft + share * (kPlotRight - kLeft); };
  const auto y = [&](double fraction) {
    return kPlotBottom - (std::max(fraction, low) - low) / (1 - low) * (kPlotBottom - kTop);
  };
  std::string out = text(kLeft, 20, "start", space.name, " font-weight=\"bold\"");
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const double fraction = low + (1 - low) * share;
    const double time = times.front() + (times.back() - times.front()) * share;
    out += line(kLeft, kPlotRight, y(fraction), "stroke=\"#ddd\"");
    out += text(kLeft - 6, y(fraction) + 4, "end", fmt::format("{:.0f}%", 100 * fraction));
    out += text(x(share), kPlotBottom + 16, "middle", fmt::format("{:.4g}", time));
  }
  out += text(x(0.5), kPanelHeight - 8, "middle", "seconds of tuning");
  const auto curve = [&](const std::vector<double>& objectives, std::string_view stroke) {
    std::string points;
    const std::size_t step = std::max<std::size_t>(1, times.size() / 250);
    for (std::size_t i = 0; i < times.size() && i < objectives.size(); i += step)
      points += fmt::format("{:.1f},{:.1f} ", x(static_cast<double>(i) / static_cast<double>(times.size() - 1)),
                            y(share_of_optimum(space.optimum, objectives[i])));
    out += fmt::format("<polyline fill=\"none\" {} points=\"{}\"/>\n", stroke, points);
  };
  curve(space.baseline, kRandomStroke);
  for (std::size_t i = 0; i < report.aggregates.size(); ++i)
    curve(report.results_of(number)[i].score.curve, stroke_of(i));
  return out;
}

std::string legend(const ReplayReport& report, double y) {
  std::string out;
  double x = kLeft;
  const auto entry = [&](std::string_view name, std::string_view stroke) {
    out += line(x, x + 22, y - 4, stroke);
    out += text(x + 28, y, "start", name);
    x += 48 + 7.0 * static_cast<double>(name.size());
  };
  entry("random search, expected", kRandomStroke);
  for (std::size_t i = 0; i < report.aggregates.size(); ++i)
    entry(fmt::format("{} ({:.2f})", report.aggregates[i].strategy, report.aggregates[i].score), stroke_of(i));
  return out;
}

}  // namespace

std::string svg_report(const ReplayReport& report) {
  const std::size_t rows = (report.spaces.size() + kColumns - 1) / kColumns;
  double width = kPanelWidth * static_cast<double>(std::min(kColumns, std::max<std::size_t>(report.spaces.size(), 1)));
  double legend_width = 260;
  for (const ReplayAggregate& aggregate : report.aggregates)
    legend_width += 104 + 7.0 * static_cast<double>(aggregate.strategy.size());
  width = std::max(width, legend_width);
  const double height = kPanelHeight * static_cast<double>(rows) + 64;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height);
  out += text(kLeft, 22, "start", fmt::format("Optimum / best so far, mean of {} repeats", report.repeats),
              " font-size=\"15\"");
  out += legend(report, 44);
  for (std::size_t i = 0; i < report.spaces.size(); ++i)
    out += fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n", kPanelWidth * static_cast<double>(i % kColumns),
                       54 + kPanelHeight * static_cast<double>(i / kColumns), panel(report, i));
  return out + "</svg>\n";
}

}  // namespace tuner::replay
