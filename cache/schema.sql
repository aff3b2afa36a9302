-- Tuning results, version 4. application_id and user_version are set beside this text by cache/file_kind.cpp.
-- A row says everything about itself, as a line of the wisdom text does, in columns of the same names
-- (cache/fields.hpp): so rows can be checked, merged and read one by one. crc is of all that a row says, but for what
-- may be told differently of the same thing (the device's name and properties, when a session finished).

CREATE TABLE session(
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,                     -- the silicon, not its name
  name TEXT NOT NULL, backend TEXT NOT NULL,
  compute_capability INTEGER NOT NULL, sm_count INTEGER NOT NULL, l2_bytes INTEGER NOT NULL,
  memory_bus_bits INTEGER NOT NULL, max_shared_bytes INTEGER NOT NULL, registers_per_sm INTEGER NOT NULL,
  properties TEXT NOT NULL,              -- JSON object
  driver TEXT NOT NULL, compiler TEXT NOT NULL, tuner TEXT NOT NULL, os TEXT NOT NULL,
  kernel TEXT NOT NULL, source TEXT NOT NULL, objective TEXT NOT NULL,
  choices TEXT NOT NULL,
  sizes TEXT NOT NULL,                   -- `nx=4096 ny=4096`
  session TEXT NOT NULL UNIQUE,          -- uuid
  conditions TEXT NOT NULL,
  strategy TEXT NOT NULL,
  seed INTEGER NOT NULL,                 -- 64 bits, unsigned
  origin TEXT NOT NULL,
  started INTEGER NOT NULL,
  finished INTEGER,                      -- absent: interrupted, or still running
  crc INTEGER NOT NULL) STRICT;
CREATE INDEX session_problem ON session(kernel, choices, sizes);

CREATE TABLE trial(
  id INTEGER PRIMARY KEY,
  of TEXT NOT NULL REFERENCES session(session) DEFERRABLE INITIALLY DEFERRED,
  trial INTEGER NOT NULL,                -- place in the session, from 1
  configuration TEXT NOT NULL,
  kind TEXT NOT NULL CHECK(kind IN ('ok', 'compile', 'launch', 'timeout', 'wrong', 'invalid')),
  message TEXT NOT NULL,
  log TEXT NOT NULL,
  median_ns REAL, low_ns REAL, high_ns REAL, noise REAL,
  cold INTEGER NOT NULL, throttled INTEGER NOT NULL, converged INTEGER NOT NULL, abandoned INTEGER NOT NULL,
  verified INTEGER NOT NULL,
  clock_mhz REAL,
  metrics TEXT NOT NULL,                 -- JSON object of numbers
  times_s TEXT NOT NULL,                 -- JSON object of seconds
  resources TEXT,                        -- JSON object; absent when it never compiled
  samples_ns BLOB NOT NULL,              -- doubles; empty for a failure
  created INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  UNIQUE(of, trial)) STRICT;
CREATE INDEX trial_configuration ON trial(of, configuration);

-- Only verified measurements get here (or what a reviewed wisdom text says). One for each kernel, problem, device and
-- environment.
CREATE TABLE best(
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL, name TEXT NOT NULL, backend TEXT NOT NULL,
  compute_capability INTEGER NOT NULL, sm_count INTEGER NOT NULL, l2_bytes INTEGER NOT NULL,
  memory_bus_bits INTEGER NOT NULL, max_shared_bytes INTEGER NOT NULL, registers_per_sm INTEGER NOT NULL,
  properties TEXT NOT NULL,
  driver TEXT NOT NULL, compiler TEXT NOT NULL, tuner TEXT NOT NULL, os TEXT NOT NULL,
  kernel TEXT NOT NULL, source TEXT NOT NULL, objective TEXT NOT NULL,
  choices TEXT NOT NULL, sizes TEXT NOT NULL,
  first_size INTEGER AS (CAST(substr(sizes, instr(sizes, '=') + 1) AS INTEGER)),  -- bounds the search for near sizes
  configuration TEXT NOT NULL,
  median_ns REAL NOT NULL, low_ns REAL, high_ns REAL, noise REAL,
  samples INTEGER NOT NULL,
  measured INTEGER NOT NULL,
  crc INTEGER NOT NULL) STRICT;
CREATE INDEX best_problem ON best(kernel, choices, sizes);
CREATE INDEX best_near ON best(kernel, choices, first_size);

-- Configurations that killed or hung the process that ran them.
CREATE TABLE quarantine(
  kernel TEXT NOT NULL, source TEXT NOT NULL, objective TEXT NOT NULL,
  choices TEXT NOT NULL, sizes TEXT NOT NULL,
  quarantined TEXT NOT NULL,             -- configuration
  device_key TEXT NOT NULL,
  reason TEXT NOT NULL,
  created INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  PRIMARY KEY(kernel, source, objective, choices, sizes, quarantined, device_key)) STRICT, WITHOUT ROWID;
