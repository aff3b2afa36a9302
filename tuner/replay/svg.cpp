#include <tuner/replay/svg.hpp>

#include <fmt/format.h>

#include <tuner/core/values/message_text.hpp>

namespace tuner::svg {
namespace {

/// \p text as XML has it, which allows neither control characters nor bytes that are not UTF-8.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";  // "]]>" is not allowed
    else
      out += c;
  }
  return out;
}

std::string with_blank(std::string_view style) { return style.empty() ? std::string() : " " + std::string(style); }

}  // namespace

std::string document(double width, double height, std::string_view content) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"system-ui, Segoe UI, Roboto, Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#5a5f66\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{2}</svg>\n",
      width, height, content);
}

std::string group(double x, double y, std::string_view content) {
  return fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n", x, y, content);
}

std::string title(std::string_view content) { return fmt::format("<title>{}</title>\n", escaped(content)); }

std::string text(double x, double y, std::string_view anchor, std::string_view content, std::string_view style) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor,
                     with_blank(style), escaped(content));
}

std::string line(double x1, double x2, double y, std::string_view style) {
  return fmt::format("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, x2, y, y, style);
}

std::string polyline(std::string_view points, std::string_view style) {
  return fmt::format("<polyline fill=\"none\" stroke-linejoin=\"round\" {} points=\"{}\"/>\n", style, points);
}

std::string tick(double x, double y) { return fmt::format("<path d=\"M{:.1f} {:.1f}v4\" {}/>\n", x, y, kAxisStroke); }

}  // namespace tuner::svg
