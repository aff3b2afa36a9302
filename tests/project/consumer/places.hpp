#pragma once
/// Where the library looks, asked through its inner headers, which are C++20; the program that uses it is C++17.

#include <string>
#include <vector>

std::string worker_program();
std::vector<std::string> shipped_databases();
