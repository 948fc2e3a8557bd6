import { install } from 'espalier';

const { lockfile, files } = await install(JSON.parse(process.argv[2])).result;
console.log(JSON.stringify({ here: lockfile, installed: [...files.keys()].sort() }));
