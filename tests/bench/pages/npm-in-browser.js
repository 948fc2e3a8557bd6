// npm-in-browser is npm 10.1 itself, bundled, on a file system in memory.
import 'setimmediate';
import { input, measure } from './report.js';

const project = '/home/web/app';

await measure(
  async () => {
    const [{ runNpmCli }, { fs }] = await Promise.all([import('npm-in-browser'), import('memfs')]);
    return { runNpmCli, fs };
  },
  async ({ runNpmCli, fs }) => {
    fs.mkdirSync(project, { recursive: true });
    fs.writeFileSync(`${project}/package.json`, input.manifest);
    const said = [];
    const say = (chunk) => said.push(chunk);
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', `--registry=${input.registry}`, ...input.flags];
    await runNpmCli(['install', ...flags], { fs, cwd: project, stdout: say, stderr: say });
    if (!fs.existsSync(`${project}/package-lock.json`)) throw new Error(said.join(''));
    const lockfile = JSON.parse(fs.readFileSync(`${project}/package-lock.json`, 'utf8'));
    return { packages: Object.keys(lockfile.packages).length - 1 };
  },
);
