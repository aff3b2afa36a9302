#pragma once
/// Declares what programs use most of the host's C and C++ libraries (ISO C++17). No kernel can call it, and nothing of
/// it is defined: it lets NVRTC read the classes and functions of a program that stand beside a kernel.

#include <cstddef>
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#define TUNER_BOTH __host__ __device__

struct FILE;
static __device__ FILE *stdin, *stdout, *stderr;
template <typename... T>
TUNER_BOTH int fprintf(FILE*, const char*, T...);
template <typename... T>
TUNER_BOTH int snprintf(char*, size_t, const char*, T...);
template <typename... T>
TUNER_BOTH int sprintf(char*, const char*, T...);
template <typename... T>
TUNER_BOTH int fscanf(FILE*, const char*, T...);
template <typename... T>
TUNER_BOTH int sscanf(const char*, const char*, T...);
TUNER_BOTH FILE* fopen(const char*, const char*);
TUNER_BOTH int fclose(FILE*);
TUNER_BOTH int fflush(FILE*);
TUNER_BOTH int fputs(const char*, FILE*);
TUNER_BOTH int puts(const char*);
TUNER_BOTH size_t fread(void*, size_t, size_t, FILE*);
TUNER_BOTH size_t fwrite(const void*, size_t, size_t, FILE*);
TUNER_BOTH void perror(const char*);
TUNER_BOTH void exit(int);
TUNER_BOTH void abort();
TUNER_BOTH int atoi(const char*);
TUNER_BOTH double atof(const char*);
TUNER_BOTH int rand();
TUNER_BOTH void srand(unsigned);
TUNER_BOTH void* calloc(size_t, size_t);
TUNER_BOTH char* getenv(const char*);

namespace std {

using ::abort, ::atof, ::atoi, ::calloc, ::exit, ::fclose, ::fflush, ::FILE, ::fopen, ::fprintf, ::fputs, ::fread,
    ::fwrite, ::getenv, ::perror, ::puts, ::rand, ::snprintf, ::sprintf, ::srand, ::sscanf;

template <typename T>
struct allocator {
  typedef T value_type;
};
template <typename T>
struct char_traits;

template <typename T>
struct tuner_iterator {
  typedef T value_type;
  TUNER_BOTH T& operator*() const;
  TUNER_BOTH T* operator->() const;
  TUNER_BOTH T& operator[](ptrdiff_t) const;
  TUNER_BOTH tuner_iterator& operator++();
  TUNER_BOTH tuner_iterator operator++(int);
  TUNER_BOTH tuner_iterator& operator--();
  TUNER_BOTH tuner_iterator operator+(ptrdiff_t) const;
  TUNER_BOTH tuner_iterator operator-(ptrdiff_t) const;
  TUNER_BOTH ptrdiff_t operator-(tuner_iterator) const;
  TUNER_BOTH bool operator==(tuner_iterator) const;
  TUNER_BOTH bool operator!=(tuner_iterator) const;
};

/// Has the members of all containers. \p Key: what its elements are found by. Nothing calls them, so those of a constant
/// container are not different.
template <typename T, typename Key = size_t, typename Mapped = T>
struct tuner_container {
  typedef T value_type;
  typedef T& reference;
  typedef const T& const_reference;
  typedef size_t size_type;
  typedef ptrdiff_t difference_type;
  typedef Key key_type;
  typedef Mapped mapped_type;
  typedef tuner_iterator<T> iterator, reverse_iterator, const_iterator, const_reverse_iterator;
  tuner_container() = default;
  TUNER_BOTH tuner_container(initializer_list<T>);
  template <typename... A>
  TUNER_BOTH tuner_container(size_t, const A&...);
  template <typename A>
  TUNER_BOTH tuner_container(A, A);
  TUNER_BOTH Mapped& operator[](const Key&) const;
  TUNER_BOTH Mapped& at(const Key&) const;
  TUNER_BOTH iterator begin() const;
  TUNER_BOTH iterator end() const;
  TUNER_BOTH iterator cbegin() const;
  TUNER_BOTH iterator cend() const;
  TUNER_BOTH iterator rbegin() const;
  TUNER_BOTH iterator rend() const;
  TUNER_BOTH iterator find(const Key&) const;
  TUNER_BOTH size_t count(const Key&) const;
  TUNER_BOTH size_t size() const;
  TUNER_BOTH size_t capacity() const;
  TUNER_BOTH bool empty() const;
  TUNER_BOTH T* data() const;
  TUNER_BOTH T& front() const;
  TUNER_BOTH T& back() const;
  TUNER_BOTH T& top() const;
  TUNER_BOTH void clear();
  TUNER_BOTH void pop();
  TUNER_BOTH void pop_back();
  TUNER_BOTH void pop_front();
  TUNER_BOTH void push(const T&);
  TUNER_BOTH void push_back(const T&);
  TUNER_BOTH void push_front(const T&);
  TUNER_BOTH void reserve(size_t);
  template <typename... A>
  TUNER_BOTH void resize(size_t, const A&...);
  template <typename... A>
  TUNER_BOTH void assign(const A&...);
  template <typename... A>
  TUNER_BOTH T& emplace_back(A&&...);
  template <typename... A>
  TUNER_BOTH pair<iterator, bool> emplace(A&&...);
  template <typename... A>
  TUNER_BOTH pair<iterator, bool> insert(const A&...);
  template <typename... A>
  TUNER_BOTH iterator erase(const A&...);
  TUNER_BOTH void swap(tuner_container&);
};

#define TUNER_SEQUENCE(name)                                \
  template <typename T, typename... Rest>                   \
  struct name : tuner_container<T> {                        \
    using tuner_container<T>::tuner_container;              \
  };
#define TUNER_SET(name)                                     \
  template <typename T, typename... Rest>                   \
  struct name : tuner_container<T, T> {                     \
    using tuner_container<T, T>::tuner_container;           \
  };
#define TUNER_MAP(name)                                                                 \
  template <typename K, typename V, typename... Rest>                                   \
  struct name : tuner_container<pair<const K, V>, K, V> {                               \
    using tuner_container<pair<const K, V>, K, V>::tuner_container;                     \
  };
TUNER_SEQUENCE(vector)
TUNER_SEQUENCE(deque)
TUNER_SEQUENCE(list)
TUNER_SEQUENCE(queue)
TUNER_SEQUENCE(stack)
TUNER_SET(set)
TUNER_SET(unordered_set)
TUNER_MAP(map)
TUNER_MAP(multimap)
TUNER_MAP(unordered_map)

template <typename T, typename... Rest>
struct basic_string : tuner_container<T> {
  using tuner_container<T>::tuner_container;
  static constexpr size_t npos = ~size_t(0);
  basic_string() = default;
  TUNER_BOTH basic_string(const T*);
  TUNER_BOTH const T* c_str() const;
  TUNER_BOTH size_t length() const;
  template <typename... A>
  TUNER_BOTH size_t find(const A&...) const;
  template <typename... A>
  TUNER_BOTH size_t rfind(const A&...) const;
  template <typename... A>
  TUNER_BOTH basic_string substr(A...) const;
  template <typename... A>
  TUNER_BOTH basic_string& append(const A&...);
  template <typename A>
  TUNER_BOTH basic_string& operator+=(const A&);
  template <typename A>
  TUNER_BOTH int compare(const A&) const;
};
typedef basic_string<char> string;
typedef basic_string<wchar_t> wstring;
struct string_view {
  typedef const char* iterator;
  static constexpr size_t npos = ~size_t(0);
  constexpr string_view() = default;
  TUNER_BOTH constexpr string_view(const char* text) : text_(text), size_(0) {
    while (text[size_] != 0) ++size_;
  }
  TUNER_BOTH constexpr string_view(const char* text, size_t size) : text_(text), size_(size) {}
  TUNER_BOTH string_view(const string&);
  TUNER_BOTH explicit operator string() const;
  TUNER_BOTH constexpr const char* data() const { return text_; }
  TUNER_BOTH constexpr size_t size() const { return size_; }
  TUNER_BOTH constexpr size_t length() const { return size_; }
  TUNER_BOTH constexpr bool empty() const { return size_ == 0; }
  TUNER_BOTH constexpr char operator[](size_t i) const { return text_[i]; }
  TUNER_BOTH constexpr iterator begin() const { return text_; }
  TUNER_BOTH constexpr iterator end() const { return text_ + size_; }
  TUNER_BOTH string_view substr(size_t, size_t = npos) const;
  TUNER_BOTH size_t find(string_view, size_t = 0) const;
  TUNER_BOTH bool operator==(string_view) const;
  TUNER_BOTH bool operator!=(string_view) const;

 private:
  const char* text_ = nullptr;
  size_t size_ = 0;
};
template <typename T>
TUNER_BOTH basic_string<T> operator+(const basic_string<T>&, const basic_string<T>&);
template <typename T>
TUNER_BOTH basic_string<T> operator+(const basic_string<T>&, const T*);
template <typename T>
TUNER_BOTH basic_string<T> operator+(const T*, const basic_string<T>&);
template <typename T>
TUNER_BOTH basic_string<T> operator+(const basic_string<T>&, T);
template <typename T>
TUNER_BOTH bool operator==(const basic_string<T>&, const basic_string<T>&);
template <typename T>
TUNER_BOTH bool operator==(const basic_string<T>&, const T*);
template <typename T>
TUNER_BOTH bool operator!=(const basic_string<T>&, const T*);
template <typename T>
TUNER_BOTH string to_string(const T&);
TUNER_BOTH int stoi(const string&);
TUNER_BOTH float stof(const string&);
TUNER_BOTH double stod(const string&);
TUNER_BOTH unsigned long stoul(const string&);

struct ios_base {
  enum openmode { in, out, binary, ate, app, trunc };
  enum fmtflags { fixed, scientific };
};
struct ostream : ios_base {
  typedef ostream& (*Manipulator)(ostream&);
  TUNER_BOTH ostream& operator<<(Manipulator);
  TUNER_BOTH ostream& write(const char*, ptrdiff_t);
  TUNER_BOTH ostream& flush();
  TUNER_BOTH ptrdiff_t precision(ptrdiff_t);
  TUNER_BOTH explicit operator bool() const;
  TUNER_BOTH bool operator!() const;
};
struct istream : ios_base {
  TUNER_BOTH istream& read(char*, ptrdiff_t);
  TUNER_BOTH bool good() const;
  TUNER_BOTH bool eof() const;
  TUNER_BOTH explicit operator bool() const;
  TUNER_BOTH bool operator!() const;
};
typedef ios_base ios;
template <typename T>
TUNER_BOTH ostream& operator<<(ostream&, const T&);
template <typename T>
TUNER_BOTH istream& operator>>(istream&, T&);
struct iostream : istream, ostream {};
struct stringstream : iostream {
  template <typename... A>
  TUNER_BOTH stringstream(const A&...);
  TUNER_BOTH string str() const;
};
typedef stringstream istringstream;
struct ostringstream : ostream {
  TUNER_BOTH string str() const;
};
template <typename Stream>
struct tuner_file : Stream {
  template <typename... A>
  TUNER_BOTH tuner_file(const A&...);
  template <typename... A>
  TUNER_BOTH void open(const A&...);
  TUNER_BOTH bool is_open() const;
  TUNER_BOTH void close();
};
typedef tuner_file<istream> ifstream;
typedef tuner_file<ostream> ofstream;
typedef tuner_file<iostream> fstream;
static __device__ ostream cout, cerr, clog;
static __device__ istream cin;
TUNER_BOTH ostream& endl(ostream&);
TUNER_BOTH ostream& flush(ostream&);
TUNER_BOTH ostream& fixed(ostream&);
TUNER_BOTH ostream& scientific(ostream&);
TUNER_BOTH int setw(int);
TUNER_BOTH int setprecision(int);
TUNER_BOTH char setfill(char);
TUNER_BOTH istream& getline(istream&, string&);

struct exception {
  TUNER_BOTH exception() noexcept;
  TUNER_BOTH virtual ~exception();
  TUNER_BOTH virtual const char* what() const noexcept;
};
struct runtime_error : exception {
  TUNER_BOTH explicit runtime_error(const string&);
};
typedef runtime_error logic_error, invalid_argument, domain_error, out_of_range, range_error, overflow_error, length_error;
struct bad_alloc : exception {};

template <typename T>
struct tuner_pointer {
  typedef T element_type;
  tuner_pointer() = default;
  template <typename... A>
  TUNER_BOTH tuner_pointer(A...);
  TUNER_BOTH T& operator*() const;
  TUNER_BOTH T* operator->() const;
  TUNER_BOTH T& operator[](size_t) const;
  TUNER_BOTH T* get() const;
  TUNER_BOTH T* release();
  template <typename... A>
  TUNER_BOTH void reset(A...);
  TUNER_BOTH explicit operator bool() const;
};
template <typename T>
struct tuner_pointer<T[]> : tuner_pointer<T> {
  using tuner_pointer<T>::tuner_pointer;
};
template <typename T>
struct default_delete;
template <typename T, typename... Rest>
struct unique_ptr : tuner_pointer<T> {
  using tuner_pointer<T>::tuner_pointer;
};
template <typename T>
struct shared_ptr : tuner_pointer<T> {
  using tuner_pointer<T>::tuner_pointer;
};
template <typename T>
struct weak_ptr {
  TUNER_BOTH shared_ptr<T> lock() const;
};
template <typename T, typename... A>
TUNER_BOTH unique_ptr<T> make_unique(A&&...);
template <typename T, typename... A>
TUNER_BOTH shared_ptr<T> make_shared(A&&...);

template <typename F>
struct function {
  function() = default;
  template <typename A>
  TUNER_BOTH function(A);
  template <typename... A>
  TUNER_BOTH int operator()(A&&...) const;
};
struct mutex {
  TUNER_BOTH void lock();
  TUNER_BOTH void unlock();
};
template <typename T>
struct lock_guard {
  TUNER_BOTH explicit lock_guard(T&);
};
template <typename T>
struct unique_lock {
  TUNER_BOTH explicit unique_lock(T&);
};
struct condition_variable {};
struct thread {
  thread() = default;
  template <typename... A>
  TUNER_BOTH explicit thread(A&&...);
  TUNER_BOTH void join();
};
struct mt19937 {
  typedef unsigned result_type;
  TUNER_BOTH explicit mt19937(unsigned = 0);
  TUNER_BOTH unsigned operator()();
};
typedef mt19937 default_random_engine, mt19937_64;
struct random_device {
  TUNER_BOTH unsigned operator()();
};
template <typename T = double>
struct uniform_real_distribution {
  TUNER_BOTH uniform_real_distribution(T = 0, T = 1);
  template <typename G>
  TUNER_BOTH T operator()(G&);
};
template <typename T = int>
struct uniform_int_distribution : uniform_real_distribution<T> {
  using uniform_real_distribution<T>::uniform_real_distribution;
};
template <typename T = double>
struct normal_distribution : uniform_real_distribution<T> {
  using uniform_real_distribution<T>::uniform_real_distribution;
};

}  // namespace std

#undef TUNER_BOTH
#undef TUNER_SEQUENCE
#undef TUNER_SET
#undef TUNER_MAP
