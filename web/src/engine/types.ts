// The resolver's types for the rest of the playground: plain data only. Nothing outside of this
// folder imports the package.

export type {
  Change,
  ConflictSide,
  DependencyKind,
  ErrorDetails,
  Graph,
  GraphEdge,
  GraphNode,
  PeerConflict,
  Requirer,
  ResolveEvent,
  Result,
  Trial,
} from 'espalier/worker';
