//! The store's index: an `SQLite` database from keys to records.
//!
//! Several processes use it at once, and any of them can be killed. It doesn't wait for the disk,
//! so a power cut can damage any part of it. Whichever call finds the damage empties the index and
//! is then made again. The packages themselves are checked when they are used.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior, params};
use rustc_hash::FxHashSet;

use super::record::{PackageKey, PackageRecord};

/// How long to wait for other processes.
const PATIENCE: Duration = Duration::from_mins(1);

/// A package that was found: the integrity that it was found by, its key and its record.
type Found = (String, PackageKey, PackageRecord);

#[derive(Debug)]
pub(super) struct Index {
    connection: Connection,
}

/// A package that is new to the index: its key, the integrities that locks know it by, and its
/// record.
#[derive(Debug)]
pub(super) struct Row {
    pub key: PackageKey,
    pub integrities: Vec<String>,
    pub record: PackageRecord,
}

impl Index {
    /// Opens the index, or creates it. A damaged index is emptied.
    pub fn open(file: &Path) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(file, flags)?;
        connection.busy_timeout(PATIENCE)?;
        let index = Self { connection };
        index.healing(Self::prepare)?;
        Ok(index)
    }

    /// Creates the tables unless they exist.
    fn prepare(&self) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, "synchronous", "OFF")?;
        let made: u32 = self.connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if made == 0 {
            // `package` has rowids, so that a search for a key reads keys. Without them, it would
            // read the record beside each key that it passes.
            self.connection.execute_batch(
                "BEGIN IMMEDIATE;
                 CREATE TABLE IF NOT EXISTS package (key TEXT PRIMARY KEY, record BLOB NOT NULL);
                 CREATE TABLE IF NOT EXISTS known_as (integrity TEXT, umask INTEGER, key TEXT NOT NULL,
                     PRIMARY KEY (integrity, umask)) WITHOUT ROWID;
                 PRAGMA user_version = 1;
                 COMMIT;",
            )?;
        }
        Ok(())
    }

    /// Does this. If that finds the index damaged, the index is emptied, and this is done again.
    fn healing<T>(&self, act: impl Fn(&Self) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        match act(self) {
            Err(error) if is_damaged(&error) => {
                self.empty()?;
                act(self)
            }
            done => done,
        }
    }

    /// Empties the index, whatever is in its file. `SQLite` does this in place, because other
    /// processes may have the file open.
    fn empty(&self) -> rusqlite::Result<()> {
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, true)?;
        let emptied = self.connection.execute_batch("VACUUM");
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, false)?;
        emptied?;
        self.prepare()
    }

    /// The packages with these integrities, each with the integrity that it was found by. One
    /// query serves all, because a query for each would cost more than the lookup itself.
    pub fn find_all(&self, integrities: &FxHashSet<&str>, umask: u32) -> rusqlite::Result<Vec<Found>> {
        let list = serde_json::to_string(integrities).expect("a list of texts");
        self.healing(|index| {
            // `CROSS JOIN` keeps this order of the tables.
            let mut statement = index.connection.prepare_cached(
                "SELECT known_as.integrity, package.key, package.record FROM json_each(?1) AS wanted
                 CROSS JOIN known_as ON known_as.integrity = wanted.value AND known_as.umask = ?2
                 CROSS JOIN package ON package.key = known_as.key",
            )?;
            let mut rows = statement.query(params![list, umask])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                // A record that can't be read counts as absent.
                if let Ok(record) = postcard::from_bytes(row.get_ref(2)?.as_blob()?) {
                    found.push((row.get(0)?, PackageKey::from_text(row.get(1)?), record));
                }
            }
            Ok(found)
        })
    }

    /// The package with this integrity.
    pub fn find(&self, integrity: &str, umask: u32) -> rusqlite::Result<Option<(PackageKey, PackageRecord)>> {
        self.healing(|index| index.look_up(integrity, umask))
    }

    fn look_up(&self, integrity: &str, umask: u32) -> rusqlite::Result<Option<(PackageKey, PackageRecord)>> {
        // A join would be planned again for every value, because SQLite takes the values for a hint
        // (`SQLITE_ENABLE_STAT4`).
        let mut known_as =
            self.connection.prepare_cached("SELECT key FROM known_as WHERE integrity = ? AND umask = ?")?;
        let key: Option<String> = known_as.query_row(params![integrity, umask], |row| row.get(0)).optional()?;
        let Some(key) = key else { return Ok(None) };
        let mut package = self.connection.prepare_cached("SELECT record FROM package WHERE key = ?")?;
        let record: Option<Vec<u8>> = package.query_row([&key], |row| row.get(0)).optional()?;
        // A record that can't be read counts as absent.
        let record = record.and_then(|record| postcard::from_bytes(&record).ok());
        Ok(record.map(|record| (PackageKey::from_text(key), record)))
    }

    /// Adds packages, all or none.
    pub fn add(&self, rows: &[Row], umask: u32) -> rusqlite::Result<()> {
        self.healing(|index| {
            let transaction = Transaction::new_unchecked(&index.connection, TransactionBehavior::Immediate)?;
            for row in rows {
                let record = postcard::to_allocvec(&row.record).expect("a record is plain data");
                let mut package = transaction.prepare_cached("INSERT OR REPLACE INTO package VALUES (?, ?)")?;
                package.execute(params![row.key.as_str(), record])?;
                let mut known_as = transaction.prepare_cached("INSERT OR REPLACE INTO known_as VALUES (?, ?, ?)")?;
                for integrity in &row.integrities {
                    known_as.execute(params![integrity, umask, row.key.as_str()])?;
                }
            }
            transaction.commit()
        })
    }

    /// Removes a package.
    pub fn remove(&self, key: &PackageKey) -> rusqlite::Result<()> {
        self.healing(|index| {
            index.connection.execute("DELETE FROM known_as WHERE key = ?", [key.as_str()])?;
            index.connection.execute("DELETE FROM package WHERE key = ?", [key.as_str()])?;
            Ok(())
        })
    }

    /// All packages.
    pub fn all(&self) -> rusqlite::Result<Vec<(PackageKey, PackageRecord)>> {
        self.healing(|index| {
            let mut statement = index.connection.prepare("SELECT key, record FROM package ORDER BY key")?;
            let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?)))?;
            let mut packages = Vec::new();
            for row in rows {
                let (key, record) = row?;
                if let Ok(record) = postcard::from_bytes(&record) {
                    packages.push((PackageKey::from_text(key), record));
                }
            }
            Ok(packages)
        })
    }
}

fn is_damaged(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}
