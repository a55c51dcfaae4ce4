/** The rules of `local/wordlist`: word patterns with category and weight. English only. */

import type { OpenaiCategory } from '../wire-formats/moderations/moderation-categories.ts';

export interface Rule {
  readonly id: string;
  /** The language of patterns is told in `word-pattern.ts`. */
  readonly patterns: readonly string[];
  /** By category, above 0 and below 1: the score that the rule gives by itself. From 0.5 on it flags. */
  readonly weights: Readonly<Partial<Record<OpenaiCategory, number>>>;
}

/** Word lists that patterns name in braces. */
export const vocabulary = {
  you: 'you him her them u ya',
  someone: 'him her them everyone everybody someone somebody people',
  relative: 'wife husband boss neighbor neighbour person people man woman someone somebody him her them',
  slay: 'kill murder slaughter strangle stab behead',
  slaying: 'killing murdering slaughtering strangling stabbing beheading torturing',
  slain: 'stabbed strangled beheaded slaughtered murdered tortured mutilated',
  really: 'really just fucking so very such a an total complete absolute little',
  insult:
    'idiot moron imbecile loser retard scum trash garbage pathetic worthless disgusting stupid dumb useless ugly filth dumbass pig failure nobody',
  name: 'idiot idiots moron morons imbecile loser losers retard retards scum dumbass pig pigs',
  group:
    'jews muslims christians hindus sikhs immigrants migrants foreigners refugees gays lesbians homosexuals blacks whites asians africans arabs mexicans indians gypsies women men',
  people:
    'jewish muslim christian hindu immigrant foreign gay lesbian homosexual trans black white asian african arab disabled',
  vermin: 'vermin animals parasites subhuman subhumans inferior scum rats cockroaches filth trash criminals',
  asks: 'to do can could would',
  one: 'i you we one',
  drug: 'meth methamphetamine cocaine heroin fentanyl lsd mdma ecstasy',
  crude: 'a an the my some homemade small pipe nail car time fertilizer pressure cooker',
  weapon: 'bomb bombs explosive explosives grenade grenades silencer napalm molotov ied ricin sarin',
  easily: 'best easily quickly painlessly',
  easiest: 'best easiest quickest fastest painless surest',
  self: 'myself yourself oneself',
  minor: 'child children minor minors underage preteen preteens teen teens kid kids toddler schoolgirl schoolboy',
  porn: 'porn porno pornography pornographic nude nudes naked erotic erotica',
} as const;

export const rules: readonly Rule[] = [
  {
    id: 'insult-at-you',
    patterns: [
      'you are|re|r {really}? {really}? {insult}',
      'youre|ur {really}? {really}? {insult}',
      'you stupid|fucking|dumb? {name}',
    ],
    weights: { harassment: 0.7 },
  },
  {
    id: 'nobody-wants-you',
    patterns: ['nobody|noone likes|loves|wants you', 'no one likes|loves|wants you', 'everyone|everybody hates you'],
    weights: { harassment: 0.6 },
  },
  { id: 'hate-you', patterns: ['i|we really|fucking? hate|despise|loathe you'], weights: { harassment: 0.4 } },
  { id: 'shut-up', patterns: ['shut the fuck|hell up', 'shut up', 'stfu'], weights: { harassment: 0.35 } },
  {
    id: 'curse-at-you',
    patterns: ['go to hell', 'burn|rot in hell', 'screw|fuck you|u|yourself'],
    weights: { harassment: 0.5 },
  },
  {
    id: 'told-to-die',
    patterns: [
      'go and? kill|hang yourself',
      'kys',
      'you should|must just? die',
      'you should|must kill|hang yourself',
      'hope|wish you die',
    ],
    weights: { harassment: 0.8, 'harassment/threatening': 0.4, 'self-harm': 0.5 },
  },
  {
    id: 'threat',
    patterns: [
      'i|we will|ll|am|m|are|re going|gonna to {slay}|hurt {you}',
      'i|we will|ll|am|m|are|re really|fucking|gonna? {slay}|hurt {you}',
      'i|we will|ll find you and {slay}|hurt you',
      'i|we will|ll|gonna shoot {you} !a|an|the|over|back|your|some|down|with|at|on|from',
      'i|we am|m|are|re going|gonna to? shoot {you} !a|an|the|over|back|your|some|down|with|at|on|from',
      'im going|gonna to? {slay}|hurt {you}',
      'ill {slay} {you}',
    ],
    weights: { 'harassment/threatening': 0.8, harassment: 0.6, violence: 0.7 },
  },
  {
    id: 'threat-wished',
    patterns: ['i|we really|just? want|wanna to? {slay} {you}', 'i|we would|d love|like to {slay} {you}'],
    weights: { 'harassment/threatening': 0.6, harassment: 0.4, violence: 0.6 },
  },
  {
    id: 'threat-veiled',
    patterns: [
      'you will|ll regret this|it',
      'you will|ll pay for this|that|what',
      'you are|re going|gonna to? suffer|regret',
      'watch your back',
      'i know where you live',
      'you are|re dead meat|man',
      'your days are numbered',
    ],
    weights: { 'harassment/threatening': 0.55, harassment: 0.4 },
  },
  {
    id: 'hate-of-group',
    patterns: [
      'i|we really|fucking? hate|despise|loathe all|the|those|these? of|the|those? {group}',
      'i|we hate|despise|loathe all|the|those|these? {people} people',
    ],
    weights: { hate: 0.8 },
  },
  {
    id: 'dehumanised-group',
    patterns: [
      '{group} are|r all|nothing|just|only? but|like? {really}? {vermin}',
      '{people} people are|r all|nothing|just|only? but|like? {really}? {vermin}',
    ],
    weights: { hate: 0.85 },
  },
  {
    id: 'excluded-group',
    patterns: [
      '{group} should|must not|never exist|vote|breed',
      '{group} do not belong here|among',
      '{group} don t belong here|among',
      'get rid of all? the? {group}',
      'no {group} allowed',
      'go back to your own? country',
    ],
    weights: { hate: 0.6 },
  },
  {
    id: 'supremacy',
    patterns: ['white power', 'master race', 'heil hitler', 'racial purity'],
    weights: { hate: 0.55 },
  },
  {
    id: 'threat-to-group',
    patterns: [
      'death to all? the? {group}',
      '{slay}|exterminate|gas|lynch|eradicate all|the|those|every of|the|those? {group}',
      '{group} should|must|deserve all? to? be? die|killed|exterminated|shot|gassed|lynched|hanged',
      '{slay}|exterminate|gas|lynch all {people} people',
    ],
    weights: { 'hate/threatening': 0.85, hate: 0.8, violence: 0.6 },
  },
  {
    id: 'how-to-make-drugs',
    patterns: [
      'how {asks} {one}? make|cook|synthesize|synthesise|produce|smuggle ..2 {drug}',
      'recipe|instructions|steps for|to cook|make|cooking|making? {drug}',
    ],
    weights: { illicit: 0.8 },
  },
  {
    id: 'how-to-buy-drugs',
    patterns: ['where|how {asks} {one}? buy|order|score|sell ..2 {drug}', 'buy|order|sell|selling {drug} online|cheap'],
    weights: { illicit: 0.7 },
  },
  {
    id: 'how-to-steal',
    patterns: [
      'how {asks} {one}? shoplift|pickpocket',
      'how {asks} {one}? steal|hotwire ..3 car|bike|money|wallet|phone|identity|passwords|card|cards',
      'how {asks} {one}? rob ..2 bank|store|shop|house|person',
      'how {asks} {one}? break into ..3 house|car|apartment|home',
    ],
    weights: { illicit: 0.75 },
  },
  {
    id: 'how-to-defraud',
    patterns: [
      'how {asks} {one}? launder money',
      'how {asks} {one}? make|print|forge|get|buy a|some? counterfeit|fake|forged money|bills|passport|passports|id|ids|documents|notes',
      'how {asks} {one}? evade taxes',
      'how {asks} {one}? commit ..2 fraud',
      'stolen credit card|cards for sale',
    ],
    weights: { illicit: 0.75 },
  },
  {
    id: 'how-to-break-into-computers',
    patterns: [
      'how {asks} {one}? hack into? ..3 account|accounts|email|phone|wifi|facebook|instagram|bank',
      'write|make|create|build a|some|me? ransomware|keylogger|malware !scanner|detector|detection|analysis|removal',
      'write|make|create|build a|me? a? phishing email|page|site|kit',
    ],
    weights: { illicit: 0.65 },
  },
  {
    id: 'how-to-make-weapons',
    patterns: [
      'how {asks} {one}? make|build|construct|assemble {crude}? {crude}? {weapon}',
      'instructions|recipe|guide|steps for|to make|build|making|building {crude}? {crude}? {weapon}',
      '3d print|printed|printing a? gun|pistol|rifle|silencer',
    ],
    weights: { 'illicit/violent': 0.85, illicit: 0.7, violence: 0.5 },
  },
  {
    id: 'how-to-buy-weapons',
    patterns: [
      'buy|get|order|sell ..1 gun|guns|rifle|firearm|firearms|grenade|grenades|explosives illegally|without',
      'buy|get|order|sell ..1 untraceable|unregistered gun|guns|rifle|firearm|firearms',
    ],
    weights: { 'illicit/violent': 0.7, illicit: 0.6 },
  },
  {
    id: 'how-to-kill',
    patterns: [
      'hire a hitman|assassin',
      'how {asks} {one}? get away with murder',
      'how {asks} {one}? {slay}|poison a|my|the? {relative}',
    ],
    weights: { 'illicit/violent': 0.8, illicit: 0.6, violence: 0.6 },
  },
  {
    id: 'self-harm-meant',
    patterns: [
      'i|im want|wanna|going|gonna|need|plan|planning|am|m|will|ll|might ..2 kill|hang|harm|shoot myself',
      'i|im want|wanna|going|gonna|need|will|ll ..2 cut myself !a|some|off|short|out|loose|free',
      'i|im want|wanna|going|gonna|plan|planning|will|ll|might ..2 end|take my own? life',
      'i|im want|wanna|going|gonna|plan|planning|will|ll|might ..2 commit suicide',
      'i really|just|still|sometimes|only? want|wanna to? die',
      'i ..1 don t want to live !in|at|near|with|on|there|under|next|like|by|without',
      'i ..1 do not want to live !in|at|near|with|on|there|under|next|like|by|without',
      'i ..1 don t want to be alive|here anymore',
      'i am|m|feel suicidal',
      'im suicidal',
    ],
    weights: { 'self-harm': 0.85, 'self-harm/intent': 0.85 },
  },
  {
    id: 'self-harm-told',
    patterns: [
      'i ..2 cutting|burning|starving myself',
      'i ..2 been cutting|harming myself',
      'better off dead|without me',
    ],
    weights: { 'self-harm': 0.6, 'self-harm/intent': 0.4 },
  },
  {
    id: 'how-to-self-harm',
    patterns: [
      'how {asks} {one}? {easily}? kill|hang|harm|cut {self} !a|some|off|short|out',
      'how {asks} {one}? {easily}? commit suicide',
      '{easiest} way|ways|method|methods to kill|hang {self}',
      '{easiest} way|ways|method|methods to commit suicide',
      '{easiest} way|ways|method|methods to end my|your own? life',
      'painless way|ways|method|methods to die',
      'suicide methods|instructions|tutorial',
      'how many pills ..3 die|overdose',
    ],
    weights: { 'self-harm': 0.8, 'self-harm/instructions': 0.85 },
  },
  {
    id: 'self-harm-praised',
    patterns: [
      'suicide is the|an|a? only|best? answer|solution|beautiful|option',
      'pro ana',
      'thinspo',
      'thinspiration',
    ],
    weights: { 'self-harm': 0.6 },
  },
  { id: 'suicide-named', patterns: ['suicide|suicidal', 'self harm|harming|injury'], weights: { 'self-harm': 0.3 } },
  {
    id: 'pornography',
    patterns: [
      'porn|porno|pornographic|pornography',
      'blowjob|handjob|cumshot|gangbang|orgy',
      'masturbate|masturbates|masturbating',
      'hardcore|explicit|xxx sex|scene|scenes|video|videos',
      'erotic|erotica story|stories|fiction|fantasy|roleplay|massage',
    ],
    weights: { sexual: 0.65 },
  },
  {
    id: 'nudity-asked',
    patterns: ['send me? some|your? nudes', 'nude|naked photos|pictures|pics|photo|picture|video|videos'],
    weights: { sexual: 0.5 },
  },
  {
    id: 'sexual-services',
    patterns: ['escort service|services|girls', 'pay|paid|paying for sex', 'hire|book a? prostitute|escort'],
    weights: { sexual: 0.5 },
  },
  {
    id: 'sexual-act',
    patterns: [
      'have|had|having sex with',
      'oral|anal|group|rough sex',
      'orgasm|orgasms|orgasmic',
      'horny',
      'fuck me|her|him hard|harder',
    ],
    weights: { sexual: 0.4 },
  },
  {
    id: 'sexual-minors',
    patterns: [
      '{minor} porn|porno|pornography|erotica|nudes',
      '{porn} ..2 of|with|involving|about a|an|the|my? {minor}',
      'sex with a|an|the|my? ..1 {minor}',
      'underage|preteen|child sex !education|ed|abuse|offender|offenders|trafficking|ratio',
      'csam',
    ],
    weights: { 'sexual/minors': 0.9, sexual: 0.8 },
  },
  {
    id: 'violent-act',
    patterns: [
      '{slain} {someone}',
      '{slaying} {someone}',
      'beat|beaten|kicked|stabbed {someone}? to death',
      'mass shooting|murder|killing',
      'massacre|massacred|slaughtered ..2 people|civilians|villagers|children',
    ],
    weights: { violence: 0.55 },
  },
  {
    id: 'call-to-violence',
    patterns: [
      '{slay}|lynch them all',
      '{slay}|lynch everyone|everybody',
      'he|she|they|people should|must|deserve|deserves to? be shot|stabbed|lynched|hanged|beheaded',
      'let us|s {slay}|lynch {someone}',
      'lets {slay}|lynch {someone}',
    ],
    weights: { violence: 0.6 },
  },
  {
    id: 'gore',
    patterns: [
      'disembowel|disemboweled|disembowelled|eviscerated|dismember|dismembered|dismembering|decapitate|decapitated|decapitating',
      'severed head|heads|limb|limbs|arm|leg|hand|fingers',
      'guts|intestines|entrails|brains ..2 spilled|spilling|splattered|everywhere|hanging',
      'pool|pools|fountain of blood',
      'blood ..2 everywhere|spurting|gushing|splattered|sprayed',
      'skull ..2 crushed|smashed|caved|split',
      'mangled|mutilated corpse|corpses|body|bodies',
    ],
    weights: { 'violence/graphic': 0.65, violence: 0.6 },
  },
];
