// The resolver's own words, as the rest of the playground may use them: plain data only. Nothing outside
// this folder imports the package.

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
