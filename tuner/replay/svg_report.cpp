#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

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

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

/// Maps times and fractions of the optimum to the panel's pixels.
struct Axes {
  double x0, y0;
  double first_time, last_time;
  double low;  // the fraction at the lower edge
  double x(double time) const {
    const double share = last_time > first_time ? (time - first_time) / (last_time - first_time) : 0;
    return x0 + kLeft + share * (kPanelWidth - kLeft - kRight);
  }
  double y(double fraction) const {
    const double share = (std::max(fraction, low) - low) / (1 - low);
    return y0 + kPanelHeight - kBottom - share * (kPanelHeight - kTop - kBottom);
  }
};

std::string polyline(const Axes& axes, const std::vector<double>& times, const std::vector<double>& objectives,
                     double optimum, std::string_view colour, std::string_view dash) {
  std::string points;
  const std::size_t step = std::max<std::size_t>(1, times.size() / 250);
  for (std::size_t i = 0; i < times.size() && i < objectives.size(); i += step)
    points += fmt::format("{:.1f},{:.1f} ", axes.x(times[i]), axes.y(share_of_optimum(optimum, objectives[i])));
  return fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"{} points=\"{}\"/>\n", colour, dash,
                     points);
}

std::string text(double x, double y, std::string_view anchor, std::string_view content, std::string_view style = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, style,
                     escaped(content));
}

std::string panel(const ReplayReport& report, std::size_t number, double x0, double y0) {
  const ReplaySpace& space = report.spaces[number];
  double low = 1;
  const std::size_t early = space.baseline.size() / 20;
  low = std::min(low, share_of_optimum(space.optimum, space.baseline[early]));
  low = std::clamp(std::floor(low * 10) / 10, 0.0, 0.9);
  const Axes axes{x0, y0, space.times.front(), space.times.back(), low};
  std::string out = text(x0 + kLeft, y0 + 20, "start", space.name, " font-weight=\"bold\"");
  for (int i = 0; i <= 4; ++i) {
    const double fraction = low + (1 - low) * i / 4;
    out += fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", x0 + kLeft,
                       x0 + kPanelWidth - kRight, axes.y(fraction), axes.y(fraction));
    out += text(x0 + kLeft - 6, axes.y(fraction) + 4, "end", fmt::format("{:.0f}%", 100 * fraction));
    const double time = space.times.front() + (space.times.back() - space.times.front()) * i / 4;
    out += text(axes.x(time), y0 + kPanelHeight - kBottom + 16, "middle", fmt::format("{:.4g}", time));
  }
  out += text(x0 + kLeft + (kPanelWidth - kLeft - kRight) / 2, y0 + kPanelHeight - 8, "middle", "seconds of tuning");
  out += polyline(axes, space.times, space.baseline, space.optimum, "#555", " stroke-dasharray=\"5 4\"");
  std::size_t colour = 0;
  for (const ReplayResult& result : report.results_of(number))
    out += polyline(axes, space.times, result.score.curve, space.optimum, kColours[colour++ % kColours.size()], "");
  return out;
}

std::string legend(const ReplayReport& report, double y) {
  std::string out;
  double x = kLeft;
  const auto entry = [&](std::string_view name, std::string_view colour, std::string_view dash) {
    out += fmt::format(
        "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", x,
        x + 22, y - 4, y - 4, colour, dash);
    out += text(x + 28, y, "start", name);
    x += 48 + 7.0 * static_cast<double>(name.size());
  };
  entry("random search, expected", "#555", " stroke-dasharray=\"5 4\"");
  for (std::size_t i = 0; i < report.aggregates.size(); ++i)
    entry(fmt::format("{} ({:.2f})", report.aggregates[i].strategy, report.aggregates[i].score),
          kColours[i % kColours.size()], "");
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
  for (std::size_t i = 0; i < report.spaces.size(); ++i) {
    const std::size_t row = i / kColumns;
    out +=
        panel(report, i, kPanelWidth * static_cast<double>(i % kColumns), 54 + kPanelHeight * static_cast<double>(row));
  }
  return out + "</svg>\n";
}

}  // namespace tuner::replay
