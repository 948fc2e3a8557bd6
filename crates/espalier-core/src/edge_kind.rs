//! The kinds of dependencies, under npm's names. The rules for each kind are where they apply.

use serde::Serialize;

/// The kind of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "summaries", derive(serde::Deserialize))]
#[serde(rename_all = "camelCase")]
pub enum EdgeKind {
    /// `dependencies`.
    Prod,
    /// `devDependencies`.
    Dev,
    /// `optionalDependencies`.
    Optional,
    /// `peerDependencies`.
    Peer,
    /// `peerDependencies` that `peerDependenciesMeta` marks as optional.
    PeerOptional,
    /// A workspace of the root.
    Workspace,
}

impl EdgeKind {
    /// npm's name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prod => "prod",
            Self::Dev => "dev",
            Self::Optional => "optional",
            Self::Peer => "peer",
            Self::PeerOptional => "peerOptional",
            Self::Workspace => "workspace",
        }
    }

    /// Whether the dependent works without it.
    pub fn is_optional(self) -> bool {
        matches!(self, Self::Optional | Self::PeerOptional)
    }

    /// Whether it has to be placed beside or above the dependent.
    pub fn is_peer(self) -> bool {
        matches!(self, Self::Peer | Self::PeerOptional)
    }
}
