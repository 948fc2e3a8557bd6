import { resolve } from 'espalier';

const { lockfile } = await resolve(JSON.parse(process.argv[2])).result;
console.log(JSON.stringify({ here: lockfile }));
