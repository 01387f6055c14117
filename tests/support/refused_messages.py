"""Messages that their writers do not want remembered, in five languages.

`SEEN` may be looked at while the model of kinds and its threshold are worked on; `HELD_OUT` are for
testing only.
"""

SEEN = """
my pin is 4471, dont save it
dont remember this: i am seeing a therapist on tuesdays
Off the record, I voted against the merger.
off the record i hate my boss
Please don't store this: my password is hunter2.
this stays between us, i failed the exam again
do not remember this but my salary is 61k
dont save this, my card ends in 9921
keep this out of your memory: i had a miscarriage in march
just between you and me, i want to quit in june
Don't write this down. My bank code is 88 12.
not for your notes: we are getting divorced
please do not keep this, the alarm code is 2580
no need to remember this, im at the dentist rn
Nur unter uns: ich habe gekündigt. Nicht speichern.
bitte nicht speichern, meine pin ist 9021
merk dir das nicht: ich war heute beim psychologen
Das bitte nicht merken: mein Gehalt ist 4200 Euro.
vergiss das gleich wieder: der code für die tür ist 7755
nicht notieren, aber ich suche einen neuen job
No guardes esto: mi clave es gato77.
no lo guardes, mi pin es 3310
esto que quede entre nosotros, me voy a separar
no recuerdes esto: estoy embarazada
por favor no memorices esto, gano 2100 al mes
que no quede registrado: suspendí el carnet
Ne retiens pas ça : mon code est 6140.
n'enregistre pas ceci, je suis enceinte
ça reste entre nous, je quitte mon mari
ne garde pas ça en mémoire, mon salaire est de 2900 euros
à ne pas noter : j'ai raté mon permis
s'il te plaît ne mémorise pas, mon mot de passe est chat12
不要记住：我的密码是8842
这个别记下来，我想辞职
别保存，我的银行卡密码是1357
这事你知道就好，别记录，我怀孕了
请不要存这条：我的工资是一万二
off the record, the deal closes on friday
I'd rather you didn't save this one: my test came back positive.
my locker code is 0815 - don't keep that
pls dont log this, i cheated on the quiz
Here is my door code, 4410. Do not store it.
not to be remembered: my ex lives at 12 mill lane
dont add this to memory, my weight is 94 kg
""".strip().splitlines()

HELD_OUT = """
my cvv is 318, do not save that
dont memorise this: i owe my brother 3000
Off the record: we are letting Tom go next week.
this is off the record but i think im gay
please dont remember this, my nhs number is 943 476
between us only, dont store it: i lied on my cv
Do not keep a record of this. My safe is behind the painting.
dont u dare save this, i kissed marco
i dont want this saved: im on antidepressants
don't put this in memory, my account number is 55310
Not for the record, I took the day off to go to the races.
this one isnt for keeping: wifi password is plum-tree-9
secret, dont save: planning a surprise party for jo
you dont need to store this but my passport is C01X
please leave this out of your memory: i was arrested once
temporary info, do not remember: room 214, code 7781
don't record this. I'm meeting a lawyer about the custody.
i'm telling you this in confidence, don't save it: dad drinks
dont remember my next bit. i took money from the till
no saving this pls, my ssn ends 4410
Speicher das bitte nicht: meine Schwester ist im Gefängnis.
nicht merken, mein passwort ist sommer24
das bleibt unter uns, nicht abspeichern, ich bin schwanger
Bitte behalte das nicht: die Kontonummer endet auf 77.
nicht aufschreiben! der tresorcode ist 1904
merk dir bitte nicht dass ich schulden habe
das muss nicht gespeichert werden, bin grad im zug
No almacenes esto: tengo deudas de 5000 euros.
no te acuerdes de esto, el código del portal es 4488
esto no lo apuntes, me han despedido
entre tú y yo, no lo registres: salgo con ana
no guardes este mensaje, mi contraseña es luna9
no quiero que recuerdes esto: tomo antidepresivos
Ne sauvegarde pas ceci : mon code de carte est 2244.
ne te souviens pas de ça, j'ai menti à ma mère
n'enregistre surtout pas, je cherche un autre travail
ne note pas ça, le digicode est 58B2
que ça reste entre nous, ne le garde pas : je suis malade
pas besoin de retenir ça, je suis dans le bus
请别保存这条消息，我的身份证号是4402
不要记录：我在看心理医生
别记住这个，门锁密码是9901
这句话不用存，我离婚了
保密，不要保存：我欠了两万块
千万别记下来，我喜欢我的同事
dont keep what i say now: im moving out on sunday, she doesnt know
keep this off the record, my bonus was 12k
do not log or store: the vault key is under the fern
just venting, dont save this, i cant stand my sister in law
don't retain this please: my blood test was bad
i had a long day at work. my pin for the phone is 7719, dont save it. then we had pizza.
This is private and not to be stored: my therapist is Dr. Lund.
please forget this as soon as you read it, my code is 6655
erase after reading: the gift for mum is a ring
don't commit this to memory, the garage code is 1212
not for storage: my loan is 240k
""".strip().splitlines()
