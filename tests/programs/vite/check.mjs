import assert from 'node:assert';
import { readdirSync, readFileSync } from 'node:fs';

const script = readdirSync('dist/assets').find((name) => name.endsWith('.js'));
assert.match(readFileSync('dist/index.html', 'utf8'), new RegExp(script));
assert.match(readFileSync(`dist/assets/${script}`, 'utf8'), /grown on a wall/);
