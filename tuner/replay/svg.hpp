#pragma once
/// The elements of SVG that tuner's pictures use. Coordinates are pixels, and y grows downwards. \p style: further
/// attributes as SVG text ("fill=\"#555\"").

#include <string>
#include <string_view>

namespace tuner::svg {

inline constexpr std::string_view kHeading = "font-size=\"16\" font-weight=\"bold\" fill=\"#1b1d20\"";
inline constexpr std::string_view kBold = "font-weight=\"bold\" fill=\"#1b1d20\"";
inline constexpr std::string_view kAxisStroke = "stroke=\"#5a5f66\"";
inline constexpr std::string_view kGridStroke = "stroke=\"#e4e3de\"";  // of lines across a plot

/// \p content on white, with text of 12 pixels in a common font.
std::string document(double width, double height, std::string_view content);
/// \p content, moved by (\p x, \p y).
std::string group(double x, double y, std::string_view content);
/// The text that a viewer shows when the pointer is over the group that this is in.
std::string title(std::string_view content);
/// \p anchor: the part of the text that is at \p x: "start", "middle" or "end".
std::string text(double x, double y, std::string_view anchor, std::string_view content, std::string_view style = {});
/// A horizontal line.
std::string line(double x1, double x2, double y, std::string_view style);
/// \p points: "x,y x,y …".
std::string polyline(std::string_view points, std::string_view style);
/// A mark below the horizontal axis.
std::string tick(double x, double y);

}  // namespace tuner::svg
