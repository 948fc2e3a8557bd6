// The sandbox: what is edited is bundled, what package.json asks for is installed, and the preview runs it.

import { Bundler, type Bundle } from './bundler.ts';
import type { Editor } from './editor.ts';
import { Packages, type Installed } from './packages.ts';
import { Preview } from './preview.ts';
import { Project, withDependency } from './project.ts';
import * as view from './view.ts';
import './style.css';

/** How long nobody may have typed before something is done, in milliseconds. */
const PAUSE = { bundle: 250, install: 600 };

const registry = new URLSearchParams(location.search).get('registry') ?? undefined;
const project = new Project();
const packages = new Packages(registry);
const bundler = new Bundler();
const preview = new Preview(view.find('.preview'), (message) => message.type !== 'ran' && view.log(message));
/** Its code is half of the page's, and comes when the installation is under way. */
let editor: Editor | undefined;
let installed: Installed | undefined;
/** What was last installed, or tried to be. */
let asked: string | undefined;
let pending: ReturnType<typeof setTimeout> | undefined;

view.find<HTMLFormElement>('.add').addEventListener('submit', (event) => {
  event.preventDefault();
  const field = view.find<HTMLInputElement>('.add input');
  const [, name = '', spec = 'latest'] = /^((?:@[^@/]+\/)?[^@/]+)(?:@(.+))?$/.exec(field.value.trim()) ?? [];
  field.value = '';
  depend(name, spec);
});
view.find('.reset').addEventListener('click', () => {
  Project.forget();
  location.reload();
});
void install();
void startEditor();

async function startEditor(): Promise<void> {
  const { Editor } = await import('./editor.ts');
  // A frame between loading it and starting it: neither then keeps the page busy for long.
  await new Promise(requestAnimationFrame);
  editor = new Editor(view.find('main'), edited);
  open('App.jsx');
}

function open(file: string): void {
  editor?.open(file, project.files[file] ?? '');
  view.showFiles(Object.keys(project.files), file, open);
}

function edited(file: string, text: string): void {
  project.files[file] = text;
  project.save();
  clearTimeout(pending);
  if (file === 'package.json') pending = setTimeout(install, PAUSE.install);
  else pending = setTimeout(run, PAUSE.bundle);
}

/** Puts a dependency into package.json, or takes it out, and installs. */
function depend(name: string, spec: string | undefined): void {
  if (!project.dependencies) return view.say('package.json can’t be read as it is.', true);
  change(withDependency(project.manifest, name, spec));
  clearTimeout(pending);
  void install();
}

function change(manifest: string): void {
  project.files['package.json'] = manifest;
  editor?.replace('package.json', manifest);
  project.save();
}

async function install(): Promise<void> {
  const wanted = JSON.stringify(project.dependencies);
  if (wanted === undefined) return view.say('package.json can’t be read as it is.', true);
  if (wanted === asked && installed) return run();
  asked = wanted;
  showDependencies();
  try {
    installed = await packages.install(project.manifest, project.lockfile, view.say);
  } catch (error) {
    // A newer installation has taken over; that one reports.
    if ((error as Error).name !== 'AbortError') view.say((error as Error).message, true);
    return;
  }
  project.lockfile = installed.lockfile;
  saveTags(installed);
  project.save();
  showDependencies();
  await run();
}

/** As npm saves: what was asked for by a tag becomes the range that it led to. */
function saveTags({ versions }: Installed): void {
  for (const [name, spec] of Object.entries(project.dependencies ?? {})) {
    const version = versions.get(name);
    if (spec === 'latest' && version) change(withDependency(project.manifest, name, `^${version}`));
  }
  asked = JSON.stringify(project.dependencies);
}

function showDependencies(): void {
  view.showDependencies(project.dependencies ?? {}, installed?.versions ?? new Map(), (name) =>
    depend(name, undefined),
  );
}

async function run(): Promise<void> {
  if (!installed) return;
  const { 'package.json': _, ...sources } = project.files;
  const bundle = await bundler.bundle(sources, installed);
  if (!bundle) return;
  view.clearLog();
  if ('problems' in bundle) return showProblems(bundle.problems);
  view.say(`${installed.sentence} ${bundle.inputs} modules bundled in ${seconds(bundle.elapsed)}.`);
  await preview.run(bundle);
}

function showProblems(problems: Extract<Bundle, { problems: unknown }>['problems']): void {
  view.say(
    problems.length === 1 ? 'The app can’t be bundled.' : `The app can’t be bundled: ${problems.length} problems.`,
    true,
  );
  for (const { file, line, column, text } of problems) {
    view.log({ type: 'error', text: file ? `${file}:${line}:${column} ${text}` : text });
  }
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
