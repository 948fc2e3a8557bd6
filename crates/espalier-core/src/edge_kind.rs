//! The kinds of dependencies, in npm's words. How a kind changes what is resolved is decided where it is.

use serde::Serialize;

/// The kinds of dependencies.
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
    /// `peerDependencies` that `peerDependenciesMeta` makes optional.
    PeerOptional,
    /// A root's workspace.
    Workspace,
}

impl EdgeKind {
    /// npm's word for it.
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

    /// Whether the dependent can do without.
    pub fn is_optional(self) -> bool {
        matches!(self, Self::Optional | Self::PeerOptional)
    }

    /// Whether it has to be met beside or above the dependent.
    pub fn is_peer(self) -> bool {
        matches!(self, Self::Peer | Self::PeerOptional)
    }
}
